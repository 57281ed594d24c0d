import { type Bench, type Row, shortened } from './bench.ts'
import { BenchGateway } from './gateway/bench-gateway.ts'
import { seed, untilIdle } from './gateway/seed.ts'
import { OURS } from './gateway/source.ts'
import { LISTED_STATES } from '../src/api/sms/message-states.ts'
import { FILTERS } from '../src/api/sms/messages-query.ts'
import { runLoad } from './support/load.ts'
import { OWN_NUMBERS, CONTACTS, USERS } from './support/seed-lists.ts'

const COUNT = 1_000_000
/** The tenant's share of all messages; with `long` it has all of them. */
const SHARE = 0.22
const DURATION_MS = 1500
const PROBE_EVERY_MS = 2
const DAY_MS = 86_400_000

/** Filters by request number. Each request has other values, as in production. */
const user = (n: number): string => `userId=user-${(n * 37) % USERS}`
const own = (n: number): string => `%2B15555550${String((n * 7) % OWN_NUMBERS).padStart(3, '0')}`
const contact = (n: number): string => `%2B1555777${String((n * 101) % CONTACTS).padStart(5, '0')}`
const app = (n: number): string => `appId=app_${String(1 + (n % 19)).padStart(16, '0')}`
const day = (n: number, daysAgo: number): string =>
  new Date(Date.now() - daysAgo * DAY_MS - (n % 500) * 60_000).toISOString()
const range = (n: number): string => `startDate=${day(n, 60)}&endDate=${day(n, 20)}`

const MESSAGES = '/v1/sms/messages'
const CONVERSATIONS = '/v1/conversations'
const DELIVERIES = '/v1/webhook-deliveries'
type Case = readonly [name: string, path: (n: number) => string]
const QUERIES: readonly Case[] = [
  ['no filter', () => `${MESSAGES}?`],
  ['appId', (n) => `${MESSAGES}?${app(n)}`],
  ['userId', (n) => `${MESSAGES}?${user(n)}`],
  ['direction', () => `${MESSAGES}?direction=inbound`],
  ['status failed', () => `${MESSAGES}?status=failed`],
  ['status queued', () => `${MESSAGES}?status=queued`],
  ['from own number', (n) => `${MESSAGES}?from=${own(n)}`],
  ['from person', (n) => `${MESSAGES}?from=${contact(n)}`],
  ['to person', (n) => `${MESSAGES}?to=${contact(n)}`],
  ['to own number', (n) => `${MESSAGES}?to=${own(n)}`],
  ['number and contact', (n) => `${MESSAGES}?number=${own(n)}&contact=${contact(n)}`],
  ['contactEndsWith, a contact', (n) => `${MESSAGES}?contactEndsWith=${contact(n).slice(3)}`],
  ['contactEndsWith, 10 contacts', (n) => `${MESSAGES}?contactEndsWith=${contact(n).slice(-4)}`],
  ['dates', (n) => `${MESSAGES}?${range(n)}`],
  ['appId, direction, failed', (n) => `${MESSAGES}?${app(n)}&direction=outbound&status=failed`],
  ['appId, from, dates', (n) => `${MESSAGES}?${app(n)}&from=${own(n)}&${range(n)}`],
  ['userId, from, status, dates', (n) => `${MESSAGES}?${user(n)}&from=${own(n)}&status=sent&${range(n)}`],
  ...LISTED_STATES.map((state): Case => [`state ${state}`, () => `${MESSAGES}?state=${state}`]),
  ['state failed, appId, dates', (n) => `${MESSAGES}?state=failed&${app(n)}&${range(n)}`],
  ['state undelivered, contact', (n) => `${MESSAGES}?state=undelivered&contact=${contact(n)}`],
  ['include=delivery', () => `${MESSAGES}?include=delivery`],
  ['include=delivery, inbound', () => `${MESSAGES}?include=delivery&direction=inbound`],
  ['conversations', () => `${CONVERSATIONS}?`],
  ['conversations, contactEndsWith', (n) => `${CONVERSATIONS}?contactEndsWith=${contact(n).slice(-4)}`],
  ['deliveries', () => `${DELIVERIES}?`],
  ['deliveries http_error, dates', (n) => `${DELIVERIES}?outcome=http_error&kind=app&${range(n)}`],
]
/** Every other filter of the messages, with its example. */
const OTHERS: readonly Case[] = Object.entries(FILTERS)
  .filter(([name]) => name !== 'tenantId' && !QUERIES.some(([, path]) => new RegExp(`[?&]${name}=`).test(path(0))))
  .map(([name, { takes }]) => [
    name,
    () => `${MESSAGES}?${name}=${encodeURIComponent(String(takes.meta()?.['example']))}`,
  ])
const PAGES: readonly [page: number, limit: number][] = [
  [1, 20],
  [1, 100],
  [10, 20],
  [10, 100],
  [100, 100],
  [1000, 20],
  [1000, 100],
]

const CASES: readonly Case[] = [
  ...[...QUERIES, ...OTHERS].map(([name, path]) => [name, (n: number) => `${path(n)}&limit=20`] as const),
  ...PAGES.map(
    ([page, limit]) => [`page ${page} x ${limit}`, () => `${MESSAGES}?page=${page}&limit=${limit}`] as const,
  ),
  ['page 10 x 100, include=delivery', () => `${MESSAGES}?include=delivery&page=10&limit=100`],
  ['page 100 x 100 of outbound', () => `${MESSAGES}?direction=outbound&page=100&limit=100`],
]

/** The latency of every filter of the lists over many messages, and the longest stall of the event loop. */
export const lists: Bench = {
  name: 'lists',
  async run(options) {
    await using stack = new AsyncDisposableStack()
    const count = shortened(options, COUNT)
    const share = options.long ? 1 : SHARE
    const gateways = []
    for (const source of options.sources) {
      const gateway = stack.use(await BenchGateway.open({ source }))
      gateways.push(gateway)
      await seed(gateway, { count, share })
      const seconds = await untilIdle(gateway)
      process.stdout.write(
        `${source.label}: ${count} messages, ${share * count} of the tenant; busy for ${seconds} s\n`,
      )
    }
    const rows: Row[] = []
    const durationMs = shortened(options, DURATION_MS)
    for (const [name, path] of CASES) rows.push(await measure(name, path, { gateways, durationMs }))
    return rows
  },
}

interface Setting {
  gateways: readonly BenchGateway[]
  durationMs: number
}

/** Measures the gateways one after the other, so that they do not disturb each other. */
async function measure(name: string, path: (n: number) => string, { gateways, durationMs }: Setting): Promise<Row> {
  const figures: Record<string, number> = {}
  const p50s: number[] = []
  for (const gateway of gateways) {
    const { p50, p99, stall } = await timed(gateway, path, durationMs)
    const { label } = gateway.source
    Object.assign(figures, { [`${label} p50 ms`]: p50, [`${label} p99 ms`]: p99, [`${label} /health worst ms`]: stall })
    if (gateway.source !== OURS) figures[`${OURS.label} ÷ ${label}`] = (p50s[0] ?? Number.NaN) / p50
    p50s.push(p50)
  }
  const rounded = Object.entries(figures).map(([column, figure]) => [column, Math.round(figure * 100) / 100])
  return {
    case: name,
    ...Object.fromEntries(rounded),
    holds: 'p99 ≤ 30 ms with 100,000 messages of the tenant, ≤ 200 ms with 1,000,000; /health ≤ 10 ms',
  }
}

/** One client sends one query after the other. A second one requests /health, to find stalls of the event loop. */
async function timed(gateway: BenchGateway, path: (n: number) => string, durationMs: number) {
  const request = (n: number): string =>
    `GET ${path(n)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${gateway.key}\r\n\r\n`
  const probing = probe(gateway)
  const load = { hostname: '127.0.0.1', port: gateway.port, connections: 1, durationMs, request }
  const { p50, p99, statuses } = await runLoad(load)
  const stall = await probing.stop()
  if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(`Answers: ${JSON.stringify(statuses)}`)
  return { p50, p99, stall }
}

function probe(gateway: BenchGateway): { stop(): Promise<number> } {
  let stopped = false
  const run = async (): Promise<number> => {
    let worst = 0
    while (!stopped) {
      const askedAt = performance.now()
      await (await fetch(`${gateway.server.url}/health`)).arrayBuffer()
      worst = Math.max(worst, performance.now() - askedAt)
      await Bun.sleep(PROBE_EVERY_MS)
    }
    return worst
  }
  const running = run()
  return {
    stop: () => {
      stopped = true
      return running
    },
  }
}
