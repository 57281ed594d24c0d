import { resolve } from 'node:path'
import type { Config } from '../core/config.ts'
import type { Log } from '../core/log.ts'
import type { Environment } from '../core/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { LitestreamReplica } from '../operator/backup/litestream-replica.ts'
import { readAge } from '../operator/backup/program.ts'
import { type Replication, prepareReplication } from '../operator/backup/replication.ts'
import {
  type BackupSettings,
  authorityWarning,
  readBackupSettings,
  regionWarning,
} from '../operator/backup/settings.ts'

/** Litestream beside the gateway: prepared before anything is opened, started with the database, ended after it. */
export class BackupProcess {
  #replication: Replication | null = null
  /** Whether Litestream has ended. */
  hasEnded = false
  /** The replica that must store commits before they are acknowledged; null with `DURABILITY=disk`. */
  readonly replica: LitestreamReplica | null

  private constructor(
    readonly settings: BackupSettings,
    readonly startReplication: (settings: BackupSettings) => Replication,
    readonly replicaTimeoutMs: number | null,
    /** Called with the exit code when Litestream ends on its own. */
    readonly ended: (code: number) => void,
  ) {
    this.replica = replicaTimeoutMs === null ? null : new LitestreamReplica(settings, replicaTimeoutMs)
  }

  /** Checks that Litestream can run. Null if no backup is wanted. Errors: `StartError`. */
  static async prepare(
    environment: Environment,
    { litestream, database, durability }: Config,
    log: Log,
    ended: (code: number) => void,
  ): Promise<BackupProcess | null> {
    const isReplicated = durability.mode === 'replica'
    if (!litestream && isReplicated) throw new StartError(EXIT.badConfig, NEEDS_LITESTREAM)
    if (!litestream) return null
    refuseOldEntryPoint(environment)
    const settings = readBackupSettings(environment, resolve(database.path ?? 'sgw.db'))
    for (const warning of [regionWarning(settings), authorityWarning(environment)])
      if (warning !== null) log.warn({}, warning)
    const startReplication = await prepareReplication(settings)
    if (isReplicated) await refuseOldLitestream(settings)
    return new BackupProcess(settings, startReplication, isReplicated ? durability.replicaTimeoutMs : null, ended)
  }

  /** The same, to another location. */
  to(settings: BackupSettings): BackupProcess {
    return new BackupProcess(settings, this.startReplication, this.replicaTimeoutMs, this.ended)
  }

  /**
   * Call it when the database is migrated and known to be the gateway's own. With a replica, resolves when it has everything in the database.
   * `refused`: as `LitestreamReplica.firstCopy`. Errors: `StartError`.
   */
  async start(refused: ((reason: string) => void) | null = null): Promise<void> {
    this.#replication = this.startReplication(this.settings)
    void this.#replication.ended.then((code) => {
      this.hasEnded = true
      this.replica?.ended()
      this.ended(code)
    })
    await this.replica?.firstCopy(refused)
  }

  /** Ends Litestream after the database is closed. Returns a sentence for the operator if the backup is not complete. */
  async end({ isLost, limitMs }: { isLost: boolean; limitMs: number }): Promise<string | null> {
    if (this.#replication === null) return null
    return isLost ? this.#replication.abandon() : this.#replication.finish(limitMs)
  }

  /** Ends Litestream immediately, without a last copy: another gateway continues from the stored changes. */
  kill(): void {
    this.#replication?.kill()
  }
}

const NEEDS_LITESTREAM =
  'DURABILITY is "replica", but the gateway does not start Litestream: start it with the entry point (deploy/entrypoint.sh), which sets LITESTREAM'

async function refuseOldLitestream(settings: BackupSettings): Promise<void> {
  if ((await readAge(settings)) === 'current') return
  throw new StartError(
    EXIT.badConfig,
    `DURABILITY is "replica", but ${settings.program} is older than Litestream 0.5.18, which cannot say when a change is stored: install 0.5.18 or later`,
  )
}

/** The entry point of release 1.0.0 sets this variable, and has already started Litestream. */
function refuseOldEntryPoint({ values }: Environment): void {
  if ((values['LITESTREAM_DATABASE'] ?? '') === '') return
  throw new StartError(
    EXIT.badConfig,
    'LITESTREAM_DATABASE is set: install the entry point (deploy/entrypoint.sh) and litestream.yml of this release; the gateway now sets it itself',
  )
}
