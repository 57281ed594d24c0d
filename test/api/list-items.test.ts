import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DELIVERY_RETENTION_DAYS } from '../../src/core/limits.ts'
import { createRandom } from '../simulation/random.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type World, createWorld } from '../support/world.ts'

// These tests compare each item of the long lists with its row.

const SEED = Number(process.env['LISTS_SEED'] ?? Math.floor(Math.random() * 1e9))
const random = createRandom(SEED)
const NOON = Date.parse('2026-11-21T12:00:00.000Z')

/** Texts that break badly composed JSON or format strings. NUL is never stored. */
const TEXTS = [
  '',
  ' ',
  '"',
  '\\',
  '\\"},{"',
  "'",
  '%s %d %% %',
  'null',
  '{"a":1}',
  '\u0001\u0008\t\n\u000b\f\r\u001f',
  '\u001e1763812800000\u001e',
  '\u007f\u0080\u2028\u2029\ufeff',
  'Grüße, 世界, 👩‍👩‍👧',
  'x'.repeat(5000),
] as const
const text = (): string => random.pick(TEXTS)
const textOrNull = (): string | null => (random.chance(0.5) ? text() : null)
const time = (): number => NOON - random.int(0, 40 * 365 * 86_400_000)
const iso = (at: number): string => new Date(at).toISOString()

type Item = Record<string, unknown>
let world: World

beforeAll(async () => {
  console.log(`LISTS_SEED=${SEED}`)
  world = await createWorld({ connect: false, work: false, clock: manualClock(NOON) })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Stores a row and returns the expected item, or null if the list must not show the row. */
async function storeMessage(n: number): Promise<Item | null> {
  const item = {
    messageId: `msg_${n}`,
    jobId: text(),
    appId: text(),
    tenantId: world.tenantId,
    userId: textOrNull(),
    direction: random.pick(['inbound', 'outbound']),
    status: random.pick(['queued', 'sent', 'failed', 'received']),
    rcMessageId: random.chance(0.5) ? `${n} ${text()}` : null,
    error: textOrNull(),
    to: text(),
    from: text(),
    body: text(),
  }
  const extension = textOrNull()
  const [createdAt, updatedAt] = [time(), time()]
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO messages (id, job_id, app_id, tenant_id, user_id, direction, status, rc_message_id, error, to_number, from_number,
      body, receiving_extension_id, created_at, updated_at) VALUES (${Array(15).fill('?').join()})`,
    args: [...Object.values(item), extension, createdAt, updatedAt],
  })
  const times = { createdAt: iso(createdAt), updatedAt: iso(updatedAt) }
  return { ...item, ...(extension === null ? {} : { receivingExtensionId: extension }), ...times }
}

async function storeAttempt(n: number): Promise<Item | null> {
  const kind = random.pick(['app', 'trigger'])
  const [target, messageId, url, correlationId, deliveryId] = [text(), text(), text(), text(), `${n} ${text()}`]
  const outcome = random.pick(['success', 'http_error', 'timeout', 'network_error', null])
  const statusCode = random.chance(0.5) ? random.pick([0, 200, 599]) : null
  const [errorClass, errorMessage, responseSnippet] = [textOrNull(), textOrNull(), textOrNull()]
  const durationMs = random.chance(0.8) ? random.int(0, 10_000) : null
  const attemptedAt = NOON - random.int(0, DELIVERY_RETENTION_DAYS * 86_400_000)
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO webhook_attempts (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome,
      status_code, error_class, error_message, response_snippet, duration_ms) VALUES (${Array(15).fill('?').join()})`,
    args: [
      deliveryId,
      world.tenantId,
      kind,
      target,
      messageId,
      correlationId,
      url,
      'boot_0',
      attemptedAt,
      outcome,
      statusCode,
      errorClass,
      errorMessage,
      responseSnippet,
      durationMs,
    ],
  })
  if (outcome === null) return null
  const optional = { statusCode, errorClass, errorMessage, responseSnippet }
  return {
    tenantId: world.tenantId,
    kind,
    ...(kind === 'app' ? { appId: target } : { triggerId: target }),
    messageId,
    url,
    outcome,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
    durationMs: durationMs ?? 0,
    attemptedAt: iso(attemptedAt),
    deliveryId,
    attemptNumber: 1,
    correlationId,
  }
}

async function listed(path: string, name: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page++) {
    const response = await world.call('GET', `${path}?limit=100&page=${page}`)
    expect(response.headers.get('content-type')).toBe('application/json')
    const body = (await response.json()) as Record<string, Item[]>
    expect(Object.keys(body)).toEqual([name, 'total', 'page', 'limit'])
    items.push(...(body[name] ?? []))
    if (items.length >= Number(body['total'])) return items
  }
}

const KINDS = [
  { path: '/v1/sms/messages', name: 'messages', key: 'messageId', at: 'createdAt', store: storeMessage },
  { path: '/v1/webhook-deliveries', name: 'attempts', key: 'deliveryId', at: 'attemptedAt', store: storeAttempt },
] as const

test.each(KINDS)('$path: items equal the stored rows in every member', async ({ path, name, key, at, store }) => {
  const stored: (Item | null)[] = []
  for (let n = 0; n < 300; n++) stored.push(await store(n))
  const shown = stored.filter((item) => item !== null)
  const newest = shown.toReversed().toSorted((a, b) => String(b[at]).localeCompare(String(a[at])))
  const items = await listed(path, name)
  expect(items.map((item) => item[key])).toEqual(newest.map((item) => item[key]))
  // Compared as text, because the order of the members matters.
  items.forEach((item, index) => expect(JSON.stringify(item)).toBe(JSON.stringify(newest[index])))
})

test.each([
  { at: '300000000000000', updatedAt: '+011476-08-15T05:20:00.000Z' },
  { at: '8640000000000001', updatedAt: '1970-01-01T00:00:00.000Z' },
  { at: `'soon'`, updatedAt: '1970-01-01T00:00:00.000Z' },
  { at: `'1e3'`, updatedAt: '1970-01-01T00:00:01.000Z' },
])('an updatedAt of $at leaves the page readable', async ({ at, updatedAt }) => {
  await using other = await createWorld({ connect: false, work: false })
  const { gate } = other.gateway.database
  await gate.execute(`INSERT INTO messages (id, job_id, app_id, tenant_id, direction, status, to_number, from_number, body, created_at, updated_at)
    VALUES ('msg_0', 'job', 'app', '${other.tenantId}', 'inbound', 'received', '1', '2', '', 0, ${at})`)
  const { messages } = (await (await other.call('GET', '/v1/sms/messages')).json()) as { messages: Item[] }
  expect(messages).toMatchObject([{ messageId: 'msg_0', createdAt: '1970-01-01T00:00:00.000Z', updatedAt }])
})
