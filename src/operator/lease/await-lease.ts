import { type Clock, sleep } from '../../core/clock.ts'
import { LEASE_MS } from '../../core/limits.ts'
import type { Log } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { MIGRATIONS } from '../../db/migrations.ts'
import { type Candidate, differenceOf } from './differences.ts'
import { listEpochs } from './epochs.ts'
import type { LeaseContent, LeaseObject, SeenLease } from './lease-object.ts'
import { StoreError, describeClock } from './object-store.ts'
import { describeUnfit, isLag, testStore } from './self-test.ts'

export interface TakenLease {
  content: LeaseContent
  etag: string
  /** Monotonic time at which the write began. */
  takenAt: number
}

/** What a waiting gateway has seen of the lease. */
export interface Watched {
  lease: SeenLease | null
  /** Monotonic time at which it was first seen like this. An outage of the storage restarts it. */
  unchangedSince: number
}

export interface AwaitLeaseOptions {
  object: LeaseObject
  candidate: Candidate
  clock: Clock
  log: Log
  /** The newest epoch that this machine's database knows. */
  knownEpoch: number
  /** Ends the wait. */
  signal: AbortSignal
  /** Called after each read. */
  seen?(watched: Watched): void
}

const LOOK_EVERY_MS = 500
/** A shorter silence of the storage does not keep a holder from renewing its lease in time. */
const OUTAGE_MS = 3000
/** The lease of a gateway that hangs is taken after 20 s. If it is this old, a machine may have worked without it: `sgw lease abandon`. */
const OLD_MS = 60_000

/**
 * Waits until no gateway holds the lease, and takes it: immediately if it was released, otherwise when nobody has renewed it for 5 s. Returns
 * null if `signal` ends the wait. Errors: `StartError` 78 if the storage refuses, or this gateway could not replace the holder.
 */
export async function awaitLease(options: AwaitLeaseOptions): Promise<TakenLease | null> {
  const watch: Watch = {
    newest: options.knownEpoch,
    lease: null,
    unchangedSince: 0,
    readAt: 0,
    isTested: false,
    isFailing: false,
  }
  while (!options.signal.aborted) {
    const taken = await tryToTake(options, watch).then(
      (result) => (noteAnswer(options, watch), result),
      (error: unknown) => noteFailure(options, watch, error),
    )
    if (taken !== null) return taken
    await sleep(options.clock, LOOK_EVERY_MS)
  }
  return null
}

interface Watch extends Watched {
  /** The newest epoch, with that of this machine's database. */
  newest: number
  /** Monotonic time of the last answer. */
  readAt: number
  /** Whether the storage has passed its test. */
  isTested: boolean
  isFailing: boolean
}

async function tryToTake(options: AwaitLeaseOptions, watch: Watch): Promise<TakenLease | null> {
  const { object, candidate, clock } = options
  const untested = watch.isTested ? null : await refuseUnfit(options, watch)
  // Before the read: an unchanged object was not written from `unchangedSince` until at least now.
  const now = clock.monotonic()
  note(options, watch, await object.read())
  if (untested !== null) throw untested
  const { lease, unchangedSince } = watch
  if (lease !== null) {
    refuseOther(candidate, lease.content)
    if (lease.content.holder !== '' && now - unchangedSince < LEASE_MS) return null
    refuseNewer(lease.content)
  }
  return take(options, await nextEpoch(object, watch), lease)
}

function note({ object, clock, seen }: AwaitLeaseOptions, watch: Watch, lease: SeenLease | null): void {
  const now = clock.monotonic()
  // In an outage, the holder may also have lost the storage, so it gets its full time again.
  const isNew = now - watch.readAt >= OUTAGE_MS || lease?.etag !== watch.lease?.etag
  watch.lease = lease
  watch.readAt = now
  if (isNew) watch.unchangedSince = now
  seen?.(watch)
  // Clocks are compared at every step, and a wrong clock is not a fault of the configuration.
  const wrong = describeClock(object.store)
  if (wrong !== null) throw new StoreError(wrong)
  watch.newest = Math.max(watch.newest, lease?.content.epoch ?? 0)
}

/** Higher than any epoch seen: somebody may have put back an older object. A gateway that cannot list takes no lease. */
async function nextEpoch({ store }: LeaseObject, { newest }: Watch): Promise<number> {
  const [listed = 0] = await listEpochs(store)
  return Math.max(newest, listed) + 1
}

/**
 * Returns why the storage could not be tested now; null if it has passed. A storage that has held a lease of this machine before, but whose
 * lists or reads lag now, gets time.
 */
async function refuseUnfit(options: AwaitLeaseOptions, watch: Watch): Promise<StoreError | null> {
  const reason = await testStore(options.object.store).catch(unlessRefused)
  if (reason instanceof StoreError) return reason
  if (reason !== null && hasWorked(options, watch) && isLag(reason))
    return new StoreError(`the object storage lags: ${reason}`)
  if (reason !== null) throw new StartError(EXIT.badConfig, describeUnfit(reason))
  watch.isTested = true
  return null
}

function unlessRefused(error: unknown): StoreError {
  if (error instanceof StoreError && !error.isRefusal) return error
  throw error
}

/** Whether this machine has used the storage before. */
const hasWorked = ({ knownEpoch }: AwaitLeaseOptions, { isTested }: Watch): boolean => isTested || knownEpoch > 0

async function take(
  { object, candidate, clock }: AwaitLeaseOptions,
  epoch: number,
  over: SeenLease | null,
): Promise<TakenLease | null> {
  const { keyIds, version: _version, fork: _fork, ...identity } = candidate
  const mayBeSent = over === null || over.ageMs > OLD_MS || over.content.mayBeSent
  const content = { ...identity, keyId: keyIds[0] ?? '', epoch, copied: over?.content.copied ?? 0, mayBeSent }
  const takenAt = clock.monotonic()
  const etag = await object.write(content, over?.etag ?? null)
  return etag === null ? null : { content, etag, takenAt }
}

/** Otherwise a different configuration would show only when the standby is needed. */
function refuseOther(candidate: Candidate, holder: LeaseContent): void {
  const difference = differenceOf(candidate, holder)
  if (difference !== null)
    throw new StartError(EXIT.badConfig, `${difference}: set the same for all gateways that share a lease`)
}

/** Before the lease is taken: otherwise no gateway would be active. */
function refuseNewer({ schema }: LeaseContent): void {
  if (MIGRATIONS.some(({ name }) => name === schema)) return
  throw new StartError(
    EXIT.badConfig,
    `The database is newer than this program (it has migration ${schema}), so this gateway does not take the lease: install the version of the gateway that held it`,
  )
}

function noteAnswer({ log }: AwaitLeaseOptions, watch: Watch): void {
  if (watch.isFailing) log.warn({}, 'the object storage answers again')
  watch.isFailing = false
}

/** Waits for a storage that does not answer, and for one that now refuses what it once allowed: a withdrawn key may come back. */
function noteFailure(options: AwaitLeaseOptions, watch: Watch, error: unknown): null {
  if (!(error instanceof StoreError)) throw error
  if (error.isRefusal && !hasWorked(options, watch))
    throw new StartError(
      EXIT.badConfig,
      `The lease cannot be read or written: ${error.message}. Check LITESTREAM_REPLICA_URL, its region and its access keys`,
    )
  if (!watch.isFailing) options.log.warn({ reason: error.message }, 'the object storage fails, trying again')
  watch.isFailing = true
  return null
}
