import { z } from 'zod'
import { type Clock, sleep } from '../../core/clock.ts'
import type { Standbys } from '../../core/lease.ts'
import { VERSION } from '../../core/version.ts'
import type { Candidate } from './differences.ts'
import { whyUnfit } from './differences.ts'
import { listEpochs } from './epochs.ts'
import type { HeldLease } from './held-lease.ts'
import type { LeaseObject } from './lease-object.ts'
import type { ListedObject, ObjectStore } from './object-store.ts'

const MINUTE_MS = 60_000
/** A standby that has said nothing for so long is gone. */
const PRESENT_MS = 3 * MINUTE_MS

/** The folder of what standbys say. */
export const ANNOUNCEMENTS = 'standby/'
const Announced = z.object({
  holder: z.string(),
  url: z.string(),
  keyIds: z.array(z.string()),
  // Release 1.1.0 says none of these.
  schema: z.string().default(''),
  version: z.string().default('1.1.0'),
  clientId: z.string().default(''),
  retention: z.string().default(''),
  fork: z.string().nullable().default(null),
})

/** Says each minute in the storage that this gateway would take over, until `signal`. The holder tells its operator if nobody does. */
export async function announce(
  store: ObjectStore,
  candidate: Candidate,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const key = `${ANNOUNCEMENTS}${candidate.holder.replaceAll(/[^\w.-]/g, '_')}.json`
  while (!signal.aborted) {
    // One that is missed is seen a minute later.
    await store.put(key, JSON.stringify({ ...candidate, version: VERSION }), 'anything').catch(() => null)
    await sleep(clock, MINUTE_MS)
  }
}

/** While none is known, a new one is soon found. */
const LOOK_FOR_FIRST_MS = 10_000

/** Reads each minute which gateways would take over, for as long as the lease is held. */
export async function watchStandbys(lease: HeldLease, object: LeaseObject, clock: Clock): Promise<void> {
  let since: number | null = null
  while (lease.isHeld) {
    const found: Found | null = await readStandbys(lease, object, since).catch(() => null)
    if (found !== null) {
      since ??= found.readAt
      lease.noteStandbys(found)
    }
    await sleep(clock, (found?.names.length ?? 0) > 0 ? MINUTE_MS : LOOK_FOR_FIRST_MS)
  }
}

const LOOK_FOR_EPOCHS_MS = 10_000

/** Looks whether a later epoch has begun, for as long as the lease is held: an older version of the lease may have been put back. */
export async function watchEpochs(lease: HeldLease, { store }: LeaseObject, clock: Clock): Promise<void> {
  while (lease.isHeld) {
    await sleep(clock, LOOK_FOR_EPOCHS_MS)
    const [newest = 0] = await listEpochs(store).catch(() => [])
    if (newest > lease.epoch) lease.overtaken(newest)
  }
}

interface Found extends Standbys {
  readAt: number
}

/** `since`: when this gateway first looked, by the storage's clock, as all times here. */
async function readStandbys({ options }: HeldLease, object: LeaseObject, since: number | null): Promise<Found | null> {
  const { content } = options.taken
  const own = await object.read()
  if (own === null) return null
  const readAt = own.storedAt
  const listed = await object.store.list(ANNOUNCEMENTS)
  const others = await Promise.all(listed.map(async (one) => ({ ...one, announced: await read(object.store, one) })))
  const known = others.filter(({ announced }) => announced !== null && announced.holder !== content.holder)
  const present = known
    .filter(({ storedAt }) => readAt - storedAt < PRESENT_MS)
    .flatMap(({ announced }) => announced ?? [])
  const lastAt = Math.max(since ?? readAt, ...known.map(({ storedAt }) => storedAt))
  const differences = present.flatMap((one) => {
    const difference = whyUnfit(one, content)
    return difference === null
      ? []
      : [`${one.holder} could not take over: ${difference} (it has version ${one.version})`]
  })
  return {
    readAt,
    names: present.map(({ holder }) => holder),
    missingMs: present.length > 0 ? 0 : Math.max(0, readAt - lastAt),
    difference: differences[0] ?? null,
  }
}

async function read(store: ObjectStore, { key }: ListedObject): Promise<z.infer<typeof Announced> | null> {
  const text = (await store.get(key))?.text ?? ''
  try {
    return Announced.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
