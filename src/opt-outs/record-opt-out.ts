import { type Clock, isoTime } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import type { Provider } from '../provider/provider.ts'
import type { Hub } from '../realtime/hub.ts'
import { type OptOutWord, STORE_OPT_OUT, isOptOutChange } from './opt-out-rows.ts'

/** Records a word in a commit of its own, and publishes it if it changed something. */
export async function recordOptOut(
  { database, hub }: { database: Database; hub: Hub },
  word: OptOutWord,
): Promise<void> {
  const rows = await database.writer.row(STORE_OPT_OUT, word)
  if (rows.some((row) => isOptOutChange(row, word))) publishOptOut(hub, word)
}

/** Call it after the commit that changed the opt-out. */
export function publishOptOut(hub: Hub, word: OptOutWord): void {
  const { tenantId, number, contact, optedOut, source, now } = word
  hub.publish({
    type: 'opt_out',
    tenantId,
    number,
    contact,
    optedOut: optedOut === 1,
    source,
    timestamp: isoTime(now),
  })
}

/** Now by the provider's clock, as far as it is known, epoch milliseconds. */
export const providerNow = ({ clock, provider }: { clock: Clock; provider: Pick<Provider, 'clockSkewMs'> }): number =>
  Math.floor(clock.steady() - (provider.clockSkewMs() ?? 0))
