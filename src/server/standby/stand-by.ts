import { hostname } from 'node:os'
import { systemClock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import type { Log } from '../../core/log.ts'
import { createSecrets, sha256Hex } from '../../core/secrets.ts'
import { VERSION } from '../../core/version.ts'
import { socketPath } from '../../db/data-folder.ts'
import { MIGRATIONS } from '../../db/migrations.ts'
import type { BackupSettings } from '../../operator/backup/settings.ts'
import { type TakenLease, type Watched, awaitLease } from '../../operator/lease/await-lease.ts'
import type { Candidate } from '../../operator/lease/differences.ts'
import { checkStandbySettings, checkStore } from '../../operator/lease/doctor-lease.ts'
import { findFork } from '../../operator/lease/find-newest.ts'
import { LeaseObject } from '../../operator/lease/lease-object.ts'
import { ObjectStore } from '../../operator/lease/object-store.ts'
import { ownEpochs } from '../../operator/lease/one-worker.ts'
import { reportOfWatched } from '../../operator/lease/report.ts'
import { announce } from '../../operator/lease/standbys.ts'
import { WarmCopy } from '../../operator/lease/warm-copy.ts'
import { type Finding, finding, findingOf } from '../../operator/doctor/finding.ts'
import { checkConfiguration, checkDisk, checkProvider } from '../../operator/doctor/surroundings.ts'
import { serveOperator } from '../../operator/socket.ts'
import { listenAsStandby } from './listener.ts'
import { standbyApp } from './local-app.ts'

/** A gateway that is not open because another one is active. It answers as a standby, and is ready to take over. */
export class Standby implements AsyncDisposable {
  readonly object: LeaseObject
  readonly candidate: Candidate
  readonly warm: WarmCopy
  watched: Watched = { lease: null, unchangedSince: 0 }
  readonly #listener
  readonly #operator

  /** Errors: `StartError` if the ports are taken. */
  constructor(
    readonly config: Config,
    readonly log: Log,
    readonly settings: BackupSettings,
  ) {
    this.#listener = listenAsStandby(config)
    this.object = new LeaseObject(new ObjectStore(settings))
    this.candidate = candidateOf(config)
    this.warm = new WarmCopy(settings, log)
    const app = standbyApp({
      report: () => reportOfWatched(this.#listener.state, this.watched),
      diagnose: () => diagnose(this),
    })
    this.#operator = serveOperator(() => Promise.resolve(app), socketPath(config.database.path ?? 'sgw.db'))
  }

  /** Waits until this gateway has the lease. Returns null if `signal` ends the wait. Errors: as `awaitLease`. */
  async untilTaken(signal: AbortSignal): Promise<TakenLease | null> {
    const { log, settings, object, candidate } = this
    log.info({ holder: candidate.holder }, 'standby')
    const waiting = new AbortController()
    void findFork(settings).then((fork) => {
      candidate.fork = fork
      return announce(object.store, candidate, systemClock, waiting.signal)
    })
    const { held, left } = ownEpochs(settings.databasePath)
    const knownEpoch = Math.max(held ?? 0, left ?? 0)
    const seen = (watched: Watched): void => {
      this.watched = watched
      this.warm.note(watched.lease, performance.now() - watched.unchangedSince)
    }
    const awaited = awaitLease({ object, candidate, knownEpoch, clock: systemClock, log, signal, seen })
    const taken = await awaited.finally(() => waiting.abort())
    if (taken === null) return null
    this.#listener.state = 'starting'
    log.warn({ epoch: taken.content.epoch, before: this.watched.lease?.content.holder ?? null }, 'lease taken')
    return taken
  }

  /** Frees the ports and the operator's socket for the gateway. */
  stopListening = async (): Promise<void> => void (await Promise.all([this.#operator.stop(), this.#listener.stop()]))

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopListening()
    await this.warm.stop()
  }
}

/** Whether it could take over. */
async function diagnose({ config, object, candidate, warm, watched: { lease } }: Standby): Promise<Finding[]> {
  const holder = lease === null || lease.content.holder === '' ? 'nobody' : lease.content.holder
  return [
    await findingOf('configuration', () => checkConfiguration({ config })),
    finding('server', 'ok', `standby; ${holder} holds the lease`),
    await findingOf('disk', () => checkDisk(config)),
    await findingOf('provider', () => checkProvider({ config })),
    await findingOf('lease', () => checkStore(object.store)),
    await findingOf('same configuration', () => checkStandbySettings(candidate, lease)),
    await findingOf('copy', () => warm.describe()),
  ]
}

export const holderName = ({ port }: Config): string => `${hostname()}:${port}`

/** This gateway's announcement. */
const candidateOf = (config: Config): Candidate => ({
  holder: holderName(config),
  url: config.publicUrl,
  version: VERSION,
  keyIds: (config.encryptionKeys ?? []).map((key) => createSecrets([key]).keyId),
  schema: MIGRATIONS.at(-1)?.name ?? '',
  clientId: sha256Hex(config.provider.clientId).slice(0, 16),
  retention: `${config.messageRetentionDays ?? 'all'} days and ${config.eventRetentionMs / 1000} s`,
  fork: null,
})
