import { createRingCentral } from '../src/provider/ringcentral/client.ts'
import { ConsentReadings } from '../src/messages/upkeep/consent-readings.ts'
import { writeManyMessages } from '../test/support/many-messages.ts'
import { createWorld, until, type World } from '../test/support/world.ts'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { startChild } from './support/child.ts'
import { rounded } from './support/rounded.ts'
import { threadMs, watchTicks } from './support/ticks.ts'

const CONSENTS = 50_000
const MESSAGES = 100_000
const PATIENCE_MS = 120_000

/**
 * How long the first list of an account's consents, and the same list an hour later, hold the event loop: 10,000 of the 50,000 contacts have
 * a conversation. The two seconds between pages are left out.
 */
export const consents: Bench = { name: 'consents', run: runConsents }

async function runConsents(options: BenchOptions): Promise<Row[]> {
  const count = shortened(options, CONSENTS)
  using server = await startChild('consent-server.ts', [String(count)])
  await using world = await createWorld({ work: false })
  const { database, provider, config } = world.gateway
  const since = Date.parse('2025-01-01T00:00:00Z')
  await writeManyMessages(database.gate, { count: MESSAGES, since, tenantId: world.tenantId, appId: world.app.appId })
  const serverUrl = `http://127.0.0.1:${String(server.ready)}`
  const { listConsents } = createRingCentral({
    ...config.provider,
    serverUrl,
    timeoutMs: 10_000,
    userAgent: 'sgw/bench',
  })
  Object.assign(provider, { listConsents })
  return [await measure(world, 'the first list'), await measure(world, 'the same list again')]
}

async function measure(world: World, what: string): Promise<Row> {
  const { consents: known, hub } = world.gateway
  let events = 0
  const unsubscribe = hub.subscribe(({ type }) => (events += Number(type === 'opt_out')))
  const readings = new ConsentReadings(world.gateway, {
    once: (_name, _ms, work) => void setImmediate(() => void work()),
  })
  const before = known.answers()[0]
  const processorMs = threadMs()
  const ticks = watchTicks()
  const startedAt = performance.now()
  await readings.look()
  await until(() => known.answers()[0] !== before, PATIENCE_MS)
  const row = {
    case: what,
    consents: known.answers()[0]?.read ?? 0,
    'longest tick, ms': rounded(ticks.longestMs()),
    'processor, s': rounded((threadMs() - processorMs) / 1000),
    'in all, s': rounded((performance.now() - startedAt) / 1000),
    events,
    holds: '≤ 5 ms, no events',
  }
  unsubscribe()
  return row
}
