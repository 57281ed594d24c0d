import { sleep, systemClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { sizeOf } from '../../db/data-folder.ts'
import { refusalOfForeignLog } from '../../db/foreign-log.ts'
import { readFact, writeFact } from '../../db/history-rows.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { listEpochs } from './epochs.ts'
import { findNewest } from './find-newest.ts'
import type { LeaseObject, SeenLease } from './lease-object.ts'
import { forkError } from './newest.ts'
import { StoreError } from './object-store.ts'

// A gateway without STANDBY at a location where others share a lease: only one of them may be active.

export interface LoneStart {
  settings: BackupSettings
  object: LeaseObject
  /** This gateway's name in the lease. */
  holder: string
  log: Log
}

/** The epoch at which this machine left the lease (`sgw lease abandon`, or a start without STANDBY). */
export const LEFT_FACT = 'left_epoch'

/**
 * Refuses to start beside a lease holder, or if this database does not continue what the last holder stored. Returns the epoch of the lease:
 * the next epoch ends this gateway. Null if no gateway has held a lease here before. Errors: `StartError` 78.
 */
export async function refuseSecondWorker(start: LoneStart): Promise<number | null> {
  const own = ownEpochs(start.settings.databasePath)
  const lease = await readLease(start, own)
  if (lease === 'unreadable') return own.left
  const epoch = lease?.content.epoch ?? (await listEpochs(start.object.store))[0] ?? null
  if (epoch === null || epoch === own.left) return epoch
  if (lease !== null && lease.content.holder !== '') await refuseHeld(start, lease, own.held)
  await refuseIfBehind(start)
  if (sizeOf(start.settings.databasePath) > 0) writeFact(start.settings.databasePath, LEFT_FACT, String(epoch))
  return epoch
}

interface OwnEpochs {
  /** The epoch under which this database was written last; null if that was without a lease. */
  held: number | null
  left: number | null
}

/** What the database says about the lease. If it cannot be read, the start itself refuses it. */
export function ownEpochs(path: string): OwnEpochs {
  if (sizeOf(path) === 0 || refusalOfForeignLog(path) !== null) return { held: null, left: null }
  try {
    const [held, left] = [readFact(path, 'epoch'), readFact(path, LEFT_FACT)]
    return { held: held === null ? null : Number(held), left: left === null ? null : Number(left) }
  } catch {
    return { held: null, left: null }
  }
}

/** Failing storage must not prevent the start of a gateway that never shared it. */
async function readLease({ object, log }: LoneStart, own: OwnEpochs): Promise<SeenLease | 'unreadable' | null> {
  try {
    return await object.read()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (own.held !== null && own.held !== own.left)
      throw new StartError(
        EXIT.badConfig,
        `This database held the lease (epoch ${own.held}), and it is unknown whether another gateway holds it now: ${error.message}. Set STANDBY=on, which waits for the object storage; or stop all other gateways and run sgw lease abandon (docs/runbooks.md#continue-without-the-storage)`,
      )
    log.warn({ reason: error.message }, 'it is unknown whether another gateway works with this backup')
    return 'unreadable'
  }
}

const WATCH_MS = 6000
const LOOK_EVERY_MS = 500

/** A crash may have left this machine's own lease behind. It is free if nobody takes it within the time in which a standby would. */
async function refuseHeld({ object, holder: self }: LoneStart, lease: SeenLease, own: number | null): Promise<void> {
  const until = performance.now() + WATCH_MS
  let isRenewed = false
  while (!isRenewed && performance.now() < until) {
    await Bun.sleep(LOOK_EVERY_MS)
    isRenewed = (await object.read().catch(() => lease))?.etag !== lease.etag
  }
  const { epoch, holder } = lease.content
  if (epoch === own && holder === self && !isRenewed) return
  const seen = isRenewed
    ? 'and was renewed just now: two active gateways would send messages twice. Set STANDBY=on'
    : 'and was not renewed for 6 s, but may come back. Set STANDBY=on, which takes over; or, if it is stopped for good, run sgw lease abandon'
  throw new StartError(
    EXIT.badConfig,
    `${holder} holds the lease (epoch ${epoch}) of the backup in LITESTREAM_REPLICA_URL, ${seen} (docs/runbooks.md#continue-without-the-storage)`,
  )
}

async function refuseIfBehind({ settings, log }: LoneStart): Promise<void> {
  const path = settings.databasePath
  await findNewest(settings, { scratch: `${path}.restoring-check`, log }, ({ newest }) => {
    if (newest.type === 'fork') throw forkError(newest.fork)
    if (newest.type !== 'copy' || newest.isContinued) return
    throw new StartError(
      EXIT.badConfig,
      `${path} lacks changes that the last holder of the lease stored at ${settings.replicaUrl}: move it elsewhere, and run sgw restore, or set STANDBY=on (docs/runbooks.md#continue-without-the-storage)`,
    )
  })
}

const WATCH_EVERY_MS = 1000

/** Calls `stop` with the reason once another gateway has taken the lease. */
export async function watchForHolder(
  { object }: Pick<LoneStart, 'object'>,
  epoch: number,
  stop: (reason: string) => void,
): Promise<void> {
  for (;;) {
    await sleep(systemClock, WATCH_EVERY_MS)
    const lease = await object.read().catch(() => null)
    if (lease === null || lease.content.holder === '' || lease.content.epoch <= epoch) continue
    const { holder, epoch: taken } = lease.content
    return stop(`${holder} has taken the lease with epoch ${taken}: this gateway runs without STANDBY, so it stops`)
  }
}
