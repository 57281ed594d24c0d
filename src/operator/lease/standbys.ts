import { type Clock, sleep } from '../../core/clock.ts'
import type { Standbys } from '../../core/lease.ts'
import { Candidate, whyUnfit } from './differences.ts'
import { listEpochs } from './epochs.ts'
import type { HeldLease } from './held-lease.ts'
import type { LeaseContent } from './lease-object.ts'
import { type ObjectStore, parsed } from './object-store.ts'

const MINUTE_MS = 60_000
/** A standby that has been silent for this long is gone. */
const PRESENT_MS = 3 * MINUTE_MS

/** The folder of the standbys' announcements. */
export const ANNOUNCEMENTS = 'standby/'

/**
 * Announces in the object storage each minute that this gateway would take over, until `signal`. The holder alerts its operator if no gateway
 * does so.
 */
export async function announce(
  store: ObjectStore,
  candidate: Candidate,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const key = `${ANNOUNCEMENTS}${candidate.holder.replaceAll(/[^\w.-]/g, '_')}.json`
  while (!signal.aborted) {
    // A missed announcement follows a minute later.
    await store.put(key, JSON.stringify(candidate), 'anything').catch(() => null)
    await sleep(clock, MINUTE_MS)
  }
}

/** While no standby is known, look more often to find a new one soon. */
const LOOK_FOR_FIRST_MS = 10_000

/** Reads every minute which gateways would take over, for as long as the lease is held. */
export async function watchStandbys(lease: HeldLease): Promise<void> {
  let since: number | null = null
  while (lease.isHeld) {
    const found: Found | null = await readStandbys(lease, since).catch(() => null)
    if (found !== null) {
      since ??= found.readAt
      lease.standbys = found
    }
    await sleep(lease.options.clock, (found?.names.length ?? 0) > 0 ? MINUTE_MS : LOOK_FOR_FIRST_MS)
  }
}

const LOOK_FOR_EPOCHS_MS = 10_000

/** Checks whether a later epoch has begun, for as long as the lease is held: somebody may have put back an older version of the lease. */
export async function watchEpochs(lease: HeldLease): Promise<void> {
  const { object, clock } = lease.options
  while (lease.isHeld) {
    await sleep(clock, LOOK_FOR_EPOCHS_MS)
    const [newest = 0] = await listEpochs(object.store).catch(() => [])
    if (newest > lease.epoch) lease.overtaken(newest)
  }
}

interface Found extends Standbys {
  readAt: number
}

/** `since`: when this gateway first looked, by the storage's clock, as all times here. */
async function readStandbys({ options: { object, taken } }: HeldLease, since: number | null): Promise<Found | null> {
  const readAt = (await object.read())?.storedAt
  if (readAt === undefined) return null
  const listed = await object.store.list(ANNOUNCEMENTS)
  const announced = await Promise.all(
    listed.map(async ({ key, storedAt }) => {
      const candidate = parsed((await object.store.get(key))?.text ?? '', Candidate)
      return candidate === null || candidate.holder === taken.content.holder ? [] : [{ candidate, storedAt }]
    }),
  )
  const known = announced.flat()
  const present = known.filter(({ storedAt }) => readAt - storedAt < PRESENT_MS).map(({ candidate }) => candidate)
  const lastAt = Math.max(since ?? readAt, ...known.map(({ storedAt }) => storedAt))
  return {
    readAt,
    names: present.map(({ holder }) => holder),
    missingMs: present.length > 0 ? 0 : Math.max(0, readAt - lastAt),
    difference: present.map((one) => describeUnfit(one, taken.content)).find((one) => one !== null) ?? null,
  }
}

function describeUnfit(standby: Candidate, holder: LeaseContent): string | null {
  const why = whyUnfit(standby, holder)
  return why && `${standby.holder} could not take over: ${why} (it has version ${standby.version})`
}
