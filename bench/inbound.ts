import { burstRows } from './inbound/bursts.ts'
import { openInboundStage } from './inbound/contestants.ts'
import { floodRows } from './inbound/floods.ts'
import { latencyRows } from './inbound/latency.ts'
import type { Row } from './row.ts'
import { EventIds } from './support/provider-events.ts'

/**
 * Provider events as the platform POSTs them, from their arrival to their 200, to WebSockets and to webhooks. The floor
 * parses the event, publishes it and POSTs it, on a new connection each and at most four at a time to a destination as
 * the gateway does; it stores, checks and signs nothing, and its client is `fetch`, the cheapest. The other floor commits
 * with a flush before it answers, publishes and POSTs, and after a POST, by raw libSQL, and uses the gateway's HTTP client.
 */
async function benchInbound(): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const inbound = await openInboundStage(new EventIds(), stack)
  return [...(await latencyRows(inbound)), ...(await floodRows(inbound)), ...(await burstRows(inbound))]
}

export default { name: 'inbound', run: benchInbound }

if (import.meta.main) console.table(await benchInbound())
