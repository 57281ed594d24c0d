import type { Gateway } from '../../messages/gateway.ts'
import { saidOfStorageClock } from '../conditions/clock-wrong.ts'
import { textOf } from '../conditions/condition.ts'
import { Fault } from '../doctor/fault.ts'
import { type Candidate, whyUnfit } from './differences.ts'
import type { SeenLease } from './lease-object.ts'
import { type ObjectStore, StoreError, clockDifference } from './object-store.ts'
import { describeUnfit, testStore } from './self-test.ts'

/** Tries writes whose conditions hold and writes whose conditions do not, and measures how long a write takes. */
export async function checkStore(store: ObjectStore): Promise<string> {
  try {
    const reason = await testStore(store)
    if (reason !== null) throw new Fault(describeUnfit(reason))
    const difference = clockDifference(store)
    if (difference !== null) throw new Fault(textOf(saidOfStorageClock(difference)))
    return `the object storage refuses conflicting writes, as it must; a small write takes ${await writeMs(store)} ms`
  } catch (error) {
    if (error instanceof StoreError) throw new Fault(`${error.message}: check the network and the access keys`)
    throw error
  }
}

async function writeMs(store: ObjectStore): Promise<number> {
  const key = `check-${crypto.randomUUID()}.json`
  const startedAt = performance.now()
  await store.put(key, '1', 'anything')
  const ms = Math.ceil(performance.now() - startedAt)
  await store.delete(key)
  return ms
}

/** Compares the configuration of a waiting gateway with the holder's. */
export function checkStandbySettings(candidate: Candidate, lease: SeenLease | null): string {
  if (lease === null) return 'unknown: no gateway has held the lease yet'
  const difference = whyUnfit(candidate, lease.content)
  if (difference !== null) throw new Fault(`${difference}: set the same for all gateways`)
  return "the version, ENCRYPTION_KEYS, PUBLIC_URL, RC_CLIENT_ID and the retention match the holder's"
}

/** Names the gateways that would take over. */
export function checkStandbys({ lease }: Pick<Gateway, 'lease'>): string {
  const standbys = lease?.standbys
  if (standbys === undefined || standbys === null) return 'unknown: the object storage has not been read yet'
  return standbys.names.length === 0
    ? 'no other gateway is waiting now: a standby is seen within two minutes of its start, and an hour without one is a warning'
    : standbys.names.join(', ')
}
