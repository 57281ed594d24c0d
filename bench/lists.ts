import type { Row } from './row.ts'
import { runLoad } from './support/load.ts'
import { compacted, openSeededStage } from './support/seeded-stage.ts'
import { OWN_NUMBERS, PERSONS, USERS } from './support/seed-lists.ts'
import type { Stage } from './torture/stage.ts'

const DURATION_MS = 1500
const PROBE_EVERY_MS = 2
const DAY_MS = 86_400_000

/** The filters by request number: different values each time, as different clients would use. */
const user = (n: number): string => `userId=user-${(n * 37) % USERS}`
const own = (n: number): string => `%2B15555550${String((n * 7) % OWN_NUMBERS).padStart(3, '0')}`
const person = (n: number): string => `%2B1555777${String((n * 101) % PERSONS).padStart(5, '0')}`
const app = (n: number): string => `appId=app_${String(1 + (n % 19)).padStart(16, '0')}`
const day = (n: number, daysAgo: number): string =>
  new Date(Date.now() - daysAgo * DAY_MS - (n % 500) * 60_000).toISOString()
const range = (n: number): string => `startDate=${day(n, 60)}&endDate=${day(n, 20)}`

const MESSAGES = '/v1/sms/messages'
const DELIVERIES = '/v1/webhook-deliveries'
const QUESTIONS: readonly [name: string, path: (n: number) => string][] = [
  ['no filter', () => `${MESSAGES}?`],
  ['appId', (n) => `${MESSAGES}?${app(n)}`],
  ['userId', (n) => `${MESSAGES}?${user(n)}`],
  ['direction', () => `${MESSAGES}?direction=inbound`],
  ['status failed', () => `${MESSAGES}?status=failed`],
  ['status queued', () => `${MESSAGES}?status=queued`],
  ['from own number', (n) => `${MESSAGES}?from=${own(n)}`],
  ['from person', (n) => `${MESSAGES}?from=${person(n)}`],
  ['to person', (n) => `${MESSAGES}?to=${person(n)}`],
  ['to own number', (n) => `${MESSAGES}?to=${own(n)}`],
  ['dates', (n) => `${MESSAGES}?${range(n)}`],
  ['appId, direction, failed', (n) => `${MESSAGES}?${app(n)}&direction=outbound&status=failed`],
  ['appId, from, dates', (n) => `${MESSAGES}?${app(n)}&from=${own(n)}&${range(n)}`],
  ['userId, from, status, dates', (n) => `${MESSAGES}?${user(n)}&from=${own(n)}&status=sent&${range(n)}`],
  ['deliveries', () => `${DELIVERIES}?`],
  ['deliveries http_error, dates', (n) => `${DELIVERIES}?outcome=http_error&kind=app&${range(n)}`],
]
const PAGES: readonly [page: number, limit: number][] = [
  [1, 20],
  [1, 100],
  [10, 20],
  [10, 100],
  [100, 100],
  [1000, 20],
  [1000, 100],
]

/** Every filter of the lists over many messages, compared with the status by id, with the longest stall of the event loop. */
async function benchLists(): Promise<Row[]> {
  const count = Number(process.env['BENCH_MESSAGES'] ?? 1_000_000)
  const share = Number(process.env['BENCH_SHARE'] ?? 0.22)
  await using stage = await openSeededStage(count, share)
  const rows: Row[] = [{ case: `${count} messages, of them ${share * count} of the tenant` }]
  rows.push({ case: 'all in segments after', s: Math.round((await compacted(stage)) / 100) / 10 })
  const byId = await statusPath(stage)
  const measured = async (name: string, path: (n: number) => string): Promise<void> => {
    const status = await timed(stage, () => byId)
    const list = await timed(stage, path)
    rows.push({ case: name, ...list, 'status p50': status['p50 ms'] ?? 0, 'x status': times(list, status) })
  }
  for (const [name, path] of QUESTIONS) await measured(name, (n) => `${path(n)}&limit=20`)
  for (const [page, limit] of PAGES)
    await measured(`page ${page} x ${limit}`, () => `${MESSAGES}?page=${page}&limit=${limit}`)
  await measured('page 100 x 100 of outbound', () => `${MESSAGES}?direction=outbound&page=100&limit=100`)
  return rows
}

export default { name: 'lists', run: benchLists }

const times = (list: Row, status: Row): number =>
  Math.round((Number(list['p50 ms']) / Number(status['p50 ms'])) * 10) / 10

async function statusPath(stage: Stage): Promise<string> {
  const listed = (await (await stage.call('GET', `${MESSAGES}?limit=1`)).json()) as {
    messages: { messageId: string }[]
  }
  return `/v1/sms/status/${listed.messages[0]?.messageId ?? ''}`
}

/** One client makes one request after the other; a second one polls /health to measure how long the loop stalls. */
async function timed(stage: Stage, path: (n: number) => string): Promise<Row> {
  const { port } = stage.gateway.options
  const request = (n: number): string =>
    `GET ${path(n)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${stage.key}\r\n\r\n`
  const probing = probe(stage)
  const { p50, p99, statuses } = await runLoad({
    hostname: '127.0.0.1',
    port,
    connections: 1,
    durationMs: DURATION_MS,
    request,
  })
  const stall = await probing.stop()
  if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(`Answers: ${JSON.stringify(statuses)}`)
  return { 'p50 ms': hundredths(p50), 'p99 ms': hundredths(p99), '/health worst ms': hundredths(stall) }
}

function probe(stage: Stage): { stop(): Promise<number> } {
  let stopped = false
  const run = async (): Promise<number> => {
    let worst = 0
    while (!stopped) {
      const askedAt = performance.now()
      await (await fetch(`${stage.gateway.url}/health`)).arrayBuffer()
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

const hundredths = (figure: number): number => Math.round(figure * 100) / 100
