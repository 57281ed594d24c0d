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
const IDLE_MS = 2000

/**
 * How long the first list of an account's consents, and the same list an hour later, hold the event loop: 10,000 of the 50,000 contacts have
 * a conversation. The two seconds between pages are left out. Other programs on the machine only add to a tick, so the shortest of the
 * rounds counts, beside that of a process that does nothing.
 */
export const consents: Bench = { name: 'consents', run: runConsents }

interface Measured {
  longestMs: number
  processorMs: number
  wallMs: number
  consents: number
  events: number
}

async function runConsents(options: BenchOptions): Promise<Row[]> {
  const rounds: Measured[][] = []
  for (let round = 0; round < options.rounds; round++) rounds.push(await measureRound(shortened(options, CONSENTS)))
  return ['nothing', 'the first list', 'the same list again'].map((what, at) =>
    rowOf(
      what,
      rounds.flatMap((round) => round[at] ?? []),
    ),
  )
}

async function measureRound(count: number): Promise<Measured[]> {
  using server = await startChild('consent-server.ts', [String(count)])
  await using world = await createWorld({ work: false })
  const { database, provider, config } = world.gateway
  const since = Date.parse('2025-01-01T00:00:00Z')
  await writeManyMessages(database.gate, { count: MESSAGES, since, tenantId: world.tenantId, appId: world.app.appId })
  const serverUrl = `http://127.0.0.1:${String(server.ready)}`
  const { listConsents, getExtension } = createRingCentral({
    ...config.provider,
    serverUrl,
    timeoutMs: 10_000,
    userAgent: 'sgw/bench',
  })
  Object.assign(provider, { listConsents })
  // Loads the parser of HTTP, as a gateway has done when it connects an extension.
  await getExtension('token')
  return [await measured(() => Bun.sleep(IDLE_MS)), await measureList(world), await measureList(world)]
}

async function measureList(world: World): Promise<Measured> {
  const { consents: known, hub } = world.gateway
  let events = 0
  const unsubscribe = hub.subscribe(({ type }) => (events += Number(type === 'opt_out')))
  const readings = new ConsentReadings(world.gateway, {
    once: (_name, _ms, work) => void setImmediate(() => void work()),
  })
  const before = known.answers()[0]
  const list = await measured(async () => {
    await readings.look()
    await until(() => known.answers()[0] !== before, PATIENCE_MS)
  })
  unsubscribe()
  return { ...list, consents: known.answers()[0]?.read ?? 0, events }
}

async function measured(work: () => Promise<void>): Promise<Measured> {
  const startedMs = { processor: threadMs(), wall: performance.now() }
  const ticks = watchTicks()
  await work()
  return {
    longestMs: ticks.longestMs(),
    processorMs: threadMs() - startedMs.processor,
    wallMs: performance.now() - startedMs.wall,
    consents: 0,
    events: 0,
  }
}

function rowOf(what: string, rounds: readonly Measured[]): Row {
  const least = (of: (one: Measured) => number): number => rounded(Math.min(...rounds.map(of)))
  return {
    case: what,
    consents: rounds[0]?.consents ?? 0,
    'longest tick, ms': least((one) => one.longestMs),
    'in the first round': rounded(rounds[0]?.longestMs ?? 0),
    'processor, s': least((one) => one.processorMs / 1000),
    'in all, s': least((one) => one.wallMs / 1000),
    events: Math.max(...rounds.map((one) => one.events)),
    holds: '≤ 5 ms, no events',
  }
}
