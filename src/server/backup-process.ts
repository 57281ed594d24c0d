import { resolve } from 'node:path'
import type { Config } from '../core/config.ts'
import type { Log } from '../core/log.ts'
import type { Environment } from '../core/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { type Replication, prepareReplication } from '../operator/backup/replication.ts'
import { authorityWarning, readBackupSettings, regionWarning } from '../operator/backup/settings.ts'

/** Litestream beside the gateway: prepared before anything is opened, started with the database, ended after it. */
export class BackupProcess {
  #replication: Replication | null = null

  private constructor(
    readonly startReplication: () => Replication,
    /** Called with the exit code when Litestream ends by itself. */
    readonly ended: (code: number) => void,
  ) {}

  /** Checks that Litestream can run. Null if no backup is wanted. Errors: `StartError`. */
  static async prepare(
    environment: Environment,
    { litestream, database }: Config,
    log: Log,
    ended: (code: number) => void,
  ): Promise<BackupProcess | null> {
    if (!litestream) return null
    refuseOldEntryPoint(environment)
    const settings = readBackupSettings(environment, resolve(database.path ?? 'sgw.db'))
    for (const warning of [regionWarning(settings), authorityWarning(environment)])
      if (warning !== null) log.warn({}, warning)
    return new BackupProcess(await prepareReplication(settings), ended)
  }

  /** Call it when the database is migrated and known to be the gateway's own. */
  start(): void {
    this.#replication = this.startReplication()
    void this.#replication.ended.then(this.ended)
  }

  /** Ends Litestream after the database is closed. Returns a sentence for the operator if the backup is not complete. */
  async end({ isLost, limitMs }: { isLost: boolean; limitMs: number }): Promise<string | null> {
    if (this.#replication === null) return null
    return isLost ? this.#replication.abandon() : this.#replication.finish(limitMs)
  }
}

/** The entry point of release 1.0.0 sets this variable, and has already started Litestream. */
function refuseOldEntryPoint({ values }: Environment): void {
  if ((values['LITESTREAM_DATABASE'] ?? '') === '') return
  throw new StartError(
    EXIT.badConfig,
    'LITESTREAM_DATABASE is set: install the entry point (deploy/entrypoint.sh) and litestream.yml of this release; the gateway now sets it itself',
  )
}
