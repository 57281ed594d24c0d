import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import type { Provider } from '../provider/provider.ts'
import { optOutEvent } from '../realtime/event.ts'
import type { Hub } from '../realtime/hub.ts'
import { type OptOutWord, STORE_OPT_OUT, isOptOutChange } from './opt-out-rows.ts'

/** Stores a word in a separate commit, and publishes the opt-out if the word changed it. */
export async function recordOptOut(
  { database, hub }: { database: Database; hub: Hub },
  word: OptOutWord,
): Promise<void> {
  const rows = await database.writer.row(STORE_OPT_OUT, word)
  if (rows.some((row) => isOptOutChange(row, word))) publishOptOut(hub, word)
}

/** Call it after the commit that changed the opt-out. */
export function publishOptOut(hub: Hub, word: OptOutWord): void {
  hub.publish(optOutEvent(word, { optedOut: word.optedOut === 1, source: word.source }, word.now))
}

/** The present time by the provider's clock, as far as its skew is known, in epoch milliseconds. */
export const providerNow = ({ clock, provider }: { clock: Clock; provider: Pick<Provider, 'clockSkewMs'> }): number =>
  Math.floor(clock.steady() - (provider.clockSkewMs() ?? 0))
