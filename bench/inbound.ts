import type { Bench, BenchOptions, Row } from './bench.ts'
import { compareCommits } from './commits/compare.ts'
import { inboundPath } from './commits/inbound.ts'
import { burstRows } from './inbound/bursts.ts'
import { openInboundStage } from './inbound/contestants.ts'
import { floodRows } from './inbound/floods.ts'
import { latencyRows } from './inbound/latency.ts'

/** Beside the floors, or what a message costs beside another commit. */
export const inbound: Bench = {
  name: 'inbound',
  run: (options) => (options.sources.length > 1 ? compareCommits(inboundPath, options) : besideFloors(options)),
}

/**
 * Provider events as the platform POSTs them, from their arrival to the 200, to WebSockets and to webhooks. The floor
 * parses an event, publishes it and POSTs it. It makes each POST on a new connection and at most four at a time to one
 * destination, as the gateway does. It stores, checks and signs nothing, and POSTs with `fetch`, the cheapest client. The
 * floor with raw libSQL commits with a flush before it answers and after each POST, and uses the gateway's HTTP client.
 */
async function besideFloors(options: BenchOptions): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const stage = await openInboundStage(options, stack)
  return [...(await latencyRows(stage)), ...(await floodRows(stage)), ...(await burstRows(stage))]
}
