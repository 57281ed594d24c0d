import type { Bench } from './bench.ts'
import { burstRows } from './inbound/bursts.ts'
import { openInboundStage } from './inbound/contestants.ts'
import { floodRows } from './inbound/floods.ts'
import { latencyRows } from './inbound/latency.ts'

/**
 * Provider events as the platform POSTs them, from their arrival to the 200, to WebSockets and to webhooks. The floor
 * parses an event, publishes it and POSTs it. It makes each POST on a new connection and at most four at a time to one
 * destination, as the gateway does. It stores, checks and signs nothing, and POSTs with `fetch`, the cheapest client. The
 * floor with raw libSQL commits with a flush before it answers and after each POST, and uses the gateway's HTTP client.
 */
export const inbound: Bench = {
  name: 'inbound',
  async run(options) {
    await using stack = new AsyncDisposableStack()
    const stage = await openInboundStage(options, stack)
    return [...(await latencyRows(stage)), ...(await floodRows(stage)), ...(await burstRows(stage))]
  },
}
