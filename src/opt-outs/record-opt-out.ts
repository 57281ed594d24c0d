import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import type { Provider } from '../provider/provider.ts'
import { optOutEvent } from '../realtime/event.ts'
import type { Hub } from '../realtime/hub.ts'
import { type OptOutDecision, STORE_OPT_OUT, isOptOutChange } from './opt-out-rows.ts'

/** Stores a decision in a separate commit, and publishes the opt-out if the decision changed it. */
export async function recordOptOut(
  { database, hub }: { database: Database; hub: Hub },
  decision: OptOutDecision,
): Promise<void> {
  const rows = await database.writer.row(STORE_OPT_OUT, decision)
  if (rows.some((row) => isOptOutChange(row, decision))) publishOptOut(hub, decision)
}

/** Call it after the commit that changed the opt-out. */
export function publishOptOut(hub: Hub, decision: OptOutDecision): void {
  const { optedOut, source, now } = decision
  hub.publish(optOutEvent(decision, { optedOut: optedOut === 1, source }, now))
}

const SECOND_MS = 1000

/** The current second by the provider's clock, in epoch milliseconds; by ours while its skew is not known. The provider dates messages by seconds. */
export const providerNow = ({ clock, provider }: { clock: Clock; provider: Pick<Provider, 'clockSkewMs'> }): number =>
  Math.floor((clock.steady() - (provider.clockSkewMs() ?? 0)) / SECOND_MS) * SECOND_MS

/** A provider's times are ahead of `providerNow` by less, because a `Date` has a resolution of one second. */
const MAX_AHEAD_MS = 60_000

/** When an opt-out was decided, by the time of its record. A wrong time in the future would make every later decision count as older. */
export const decidedAtOf = (context: Parameters<typeof providerNow>[0], recordedAt: number): number =>
  Math.min(recordedAt, providerNow(context) + MAX_AHEAD_MS)
