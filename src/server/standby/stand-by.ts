import { hostname } from 'node:os'
import { systemClock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import type { Log } from '../../core/log.ts'
import { createSecrets, sha256Hex } from '../../core/secrets.ts'
import { openDataFolder, socketPath } from '../../db/data-folder.ts'
import { noteWaitFor } from '../../db/database-file.ts'
import type { ProcessLock } from '../../db/lock.ts'
import { MIGRATIONS } from '../../db/migrations.ts'
import { untilReplicationEnded } from '../../operator/backup/replication.ts'
import { awaitLease } from '../../operator/lease/await-lease.ts'
import type { Candidate } from '../../operator/lease/differences.ts'
import { settingsOfEpoch } from '../../operator/lease/epochs.ts'
import { findFork } from '../../operator/lease/find-newest.ts'
import { HeldLease, type HeldLeaseOptions } from '../../operator/lease/held-lease.ts'
import { LeaseObject, type SeenLease } from '../../operator/lease/lease-object.ts'
import { ObjectStore } from '../../operator/lease/object-store.ts'
import { ownEpochs } from '../../operator/lease/one-worker.ts'
import { keepRemovingEpochs } from '../../operator/lease/remove-epochs.ts'
import { renewInThread } from '../../operator/lease/renew-in-thread.ts'
import { reportOfSeen } from '../../operator/lease/report.ts'
import { announce, watchEpochs, watchStandbys } from '../../operator/lease/standbys.ts'
import { takeDatabase } from '../../operator/lease/take-database.ts'
import { WarmCopy } from '../../operator/lease/warm-copy.ts'
import { serveOperator } from '../../operator/socket.ts'
import type { BackupProcess } from '../backup-process.ts'
import { diagnoseStandby } from './diagnose-standby.ts'
import { listenAsStandby } from './listener.ts'
import { standbyApp } from './local-app.ts'

export interface StandByOptions {
  config: Config
  log: Log
  backup: BackupProcess
  /** Ends the wait for the lease. */
  signal: AbortSignal
  /** Called when the lease is taken, before anything is fetched. */
  taken(lease: HeldLease): void
  /** Called once if the lease is lost: the process must end at once. */
  lost(why: string): void
  /** Called when an operator wants a standby to take over. */
  give(): void
}

/** What a gateway that holds the lease starts with. */
export interface Holding {
  lease: HeldLease
  /** Copies to the folder of the lease's epoch. */
  backup: BackupProcess
  folderLock: ProcessLock
  /** Frees the ports and the operator's socket for the gateway. */
  stopListening(): Promise<void>
}

const LOCK_WAIT_MS = 30_000

/**
 * Waits beside the gateway that works, and takes its place: takes the lease, and puts the newest database in place. Returns null if `signal`
 * ended the wait. Errors: `StartError`.
 */
export async function standBy(options: StandByOptions): Promise<Holding | null> {
  const { config, log, backup, signal } = options
  await using stack = new AsyncDisposableStack()
  const path = config.database.path ?? 'sgw.db'
  const folderLock = await openDataFolder(path, config.production ? LOCK_WAIT_MS : 0, noteWaitFor(path, log))
  stack.defer(() => folderLock.release())
  await untilReplicationEnded(backup.settings.databasePath)
  const listener = listenAsStandby(config)
  stack.defer(() => listener.stop())
  const store = new ObjectStore(backup.settings)
  const object = new LeaseObject(store)
  const candidate = candidateOf(config)
  const seen: LastSeen = { lease: null, etag: '', changedAt: 0 }
  const warm = new WarmCopy(backup.settings, log)
  stack.defer(() => warm.stop())
  const role = (): 'standby' | 'starting' => (listener.state === 'standby' ? 'standby' : 'starting')
  const app = standbyApp({
    report: () => reportOfSeen(role(), seen.lease, performance.now() - seen.changedAt),
    diagnose: () => diagnoseStandby({ config, store, candidate, lease: seen.lease, warm }),
  })
  const operator = serveOperator(() => Promise.resolve(app), socketPath(path))
  stack.defer(() => operator.stop())
  log.info({ holder: candidate.holder }, 'standby')
  const waiting = new AbortController()
  stack.defer(() => waiting.abort())
  void findFork(backup.settings).then((fork) => {
    candidate.fork = fork
    return announce(store, candidate, systemClock, waiting.signal)
  })
  const { held, left } = ownEpochs(path)
  const knownEpoch = Math.max(held ?? 0, left ?? 0)
  const awaited = { object, candidate, knownEpoch, clock: systemClock, log, signal }
  const noteLease = (lease: SeenLease | null): void => {
    note(seen, lease)
    warm.note(lease, performance.now() - seen.changedAt)
  }
  const taken = await awaitLease({ ...awaited, seen: noteLease })
  if (taken === null) return null
  waiting.abort()
  listener.state = 'starting'
  const { epoch } = taken.content
  log.warn({ epoch, before: seen.lease?.content.holder ?? null }, 'lease taken')
  const { lost, give } = options
  const checkTimeoutMs = config.durability.replicaTimeoutMs
  const from = { settings: backup.settings, writer: object.writer, written: object.written, etag: taken.etag }
  const renew: HeldLeaseOptions['renew'] = (wish, hear) => renewInThread(from, wish, hear)
  const lease = new HeldLease({ taken, object, clock: systemClock, log, checkTimeoutMs, renew, lost, give })
  options.taken(lease)
  void watchStandbys(lease, object, systemClock)
  void watchEpochs(lease, object, systemClock)
  void keepRemovingEpochs(lease, object, systemClock, log)
  await takeDatabase(backup.settings, store, taken.content, warm, log)
  stack.move()
  const stopListening = async (): Promise<void> => void (await Promise.all([operator.stop(), listener.stop()]))
  return { lease, backup: backup.to(settingsOfEpoch(backup.settings, epoch)), folderLock, stopListening }
}

/** The newest version of the lease that was read. */
interface LastSeen {
  lease: SeenLease | null
  etag: string
  /** Monotonic time. */
  changedAt: number
}

function note(seen: LastSeen, lease: SeenLease | null): void {
  seen.lease = lease
  if (lease === null || lease.etag === seen.etag) return
  seen.etag = lease.etag
  seen.changedAt = performance.now()
}

export const holderName = ({ port }: Config): string => `${hostname()}:${port}`

/** This gateway, as others see it in the lease. */
function candidateOf(config: Config): Candidate {
  const keyIds = (config.encryptionKeys ?? []).map((key) => createSecrets([key]).keyId)
  return {
    holder: holderName(config),
    url: config.publicUrl,
    keyId: keyIds[0] ?? '',
    keyIds,
    schema: MIGRATIONS.at(-1)?.name ?? '',
    clientId: sha256Hex(config.provider.clientId).slice(0, 16),
    retention: `${config.messageRetentionDays ?? 'all'} days and ${config.eventRetentionMs / 1000} s`,
    fork: null,
  }
}
