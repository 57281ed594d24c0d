import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seedRows } from '../../../bench/support/seed-lists.ts'
import { DAY_MS, DELIVERY_RETENTION_DAYS } from '../../../src/core/limits.ts'
import { purgeMessages } from '../../../src/messages/upkeep/purge-messages.ts'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { erase } from '../../../src/operator/erase.ts'
import { type Random, createRandom } from '../../simulation/random.ts'
import { FROM, type World, createWorld, until } from '../../support/world.ts'

// This test runs all operations that change rows in random order, and compares each total and page with plain SQL.

const SEED = Number(process.env['LISTS_SEED'] ?? Math.floor(Math.random() * 1e9))
const STEPS = 20
const QUERIES_PER_STEP = 6
const ROWS = 12_000
const RETENTION_MS = DELIVERY_RETENTION_DAYS * DAY_MS

let world: World
const random = createRandom(SEED)

beforeAll(async () => {
  world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '89' } })
  const now = world.gateway.clock.now()
  await seedRows(world.gateway.database.gate, {
    count: ROWS,
    since: now - 90 * DAY_MS,
    until: now - 60_000,
    tenants: [world.tenantId, 'tenant_ffffffffffffffff'],
    share: 0.8,
    appId: world.app.appId,
  })
  // No attempt passes its retention during the test.
  const soon = `DELETE FROM webhook_attempts WHERE attempted_at BETWEEN ${now - RETENTION_MS} AND ${now - RETENTION_MS + 600_000}`
  await world.gateway.database.gate.execute(soon)
}, 30_000)

afterAll(() => world[Symbol.asyncDispose]())

async function count(sql: string): Promise<number> {
  return Number((await world.gateway.database.gate.execute(sql)).rows[0]?.['n'])
}

const contact = (): string => `+1555777${String(random.int(0, 49_999)).padStart(5, '0')}`

async function randomRow(columns: string): Promise<Record<string, unknown>> {
  const { rows } = await world.gateway.database.gate.execute(
    `SELECT ${columns} FROM messages ORDER BY seq LIMIT 1 OFFSET ${random.int(0, ROWS / 2)}`,
  )
  return { ...rows[0] }
}

const change = (sql: string): Promise<unknown> => world.gateway.database.writer.write([{ sql, args: [] }])

const OPERATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  send: () => Promise.all([1, 2, 3].map((n) => world.send({ to: contact(), userId: `user-${n}` }))),
  fail: async () => {
    world.control.planNextSms({ messageStatus: 'SendingFailed' })
    await world.send({ to: contact() })
  },
  cancel: async () => world.call('DELETE', `/v1/sms/${await world.send({ to: contact() })}`),
  inbound: () => world.control.injectSms({ from: contact(), to: FROM, text: 'Hello' }),
  backFill: () =>
    storeInbound(world.gateway, {
      tenantId: world.tenantId,
      extensionId: '101',
      providerMessageId: `filled-${random.int(0, 1e9)}`,
      from: contact(),
      to: FROM,
      text: 'Late',
    }),
  purge: () => purgeMessages(world.gateway),
  erase: async () => {
    const { to_number: to, from_number: from, direction } = await randomRow('to_number, from_number, direction')
    return erase(world.gateway, { phone: String(direction === 'inbound' ? from : to) })
  },
  /** Stores a row with an earlier time, as after a wrong clock. */
  late: () =>
    change(`INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      VALUES ('late${random.int(0, 1e9)}', 'job', '${world.tenantId}', 'app', 'outbound', '${FROM}', '${contact()}', '', 'queued',
        ${world.gateway.clock.now() - random.int(1, 80) * DAY_MS}, 0)`),
  ended: async () =>
    change(`UPDATE messages SET status = 'failed' WHERE seq = ${String((await randomRow('seq'))['seq'])}`),
  moved: async () =>
    change(`UPDATE messages SET app_id = 'app' WHERE seq = ${String((await randomRow('seq'))['seq'])}`),
  outcome: () =>
    change(
      `UPDATE webhook_attempts SET outcome = 'timeout' WHERE seq IN (SELECT seq FROM webhook_attempts ORDER BY seq DESC LIMIT 2)`,
    ),
}

interface Query {
  path: string
  where: string
  page: number
  limit: number
}

const OWN = `CASE direction WHEN 'inbound' THEN to_number ELSE from_number END`
const OTHER = `CASE direction WHEN 'inbound' THEN from_number ELSE to_number END`

function randomMessagesQuery(): Query {
  const now = world.gateway.clock.now()
  const values: Record<string, [column: string, value: () => string]> = {
    appId: ['app_id', () => random.pick([world.app.appId, 'app_0000000000000003', 'app'])],
    userId: ['user_id', () => `user-${random.int(1, 4999)}`],
    direction: ['direction', () => random.pick(['inbound', 'outbound'])],
    status: ['status', () => random.pick(['queued', 'sending', 'sent', 'failed', 'received'])],
    from: ['from_number', () => random.pick([FROM, '+15555550007', contact()])],
    to: ['to_number', () => random.pick([FROM, '+15555550007', contact()])],
    number: [OWN, () => random.pick([FROM, '+15555550007', '+15555550011'])],
    contact: [OTHER, contact],
  }
  const given = Object.entries(values).filter(() => random.chance(0.3))
  return asked(
    '/v1/sms/messages',
    given,
    [now - random.int(0, 95) * DAY_MS, now - random.int(-1, 60) * DAY_MS],
    'created_at',
  )
}

function randomDeliveriesQuery(): Query {
  const now = world.gateway.clock.now()
  const values: Record<string, [column: string, value: () => string]> = {
    outcome: ['outcome', () => random.pick(['success', 'http_error', 'timeout'])],
    kind: ['kind', () => random.pick(['app', 'trigger'])],
    appId: [`kind = 'app' AND target_id`, () => world.app.appId],
  }
  const given = Object.entries(values).filter(() => random.chance(0.3))
  const range = [now - random.int(0, 95) * DAY_MS, now - random.int(-1, 60) * DAY_MS] as const
  const { where, ...rest } = asked('/v1/webhook-deliveries', given, range, 'attempted_at')
  return { ...rest, where: `${where} AND outcome IS NOT NULL AND attempted_at >= ${now - RETENTION_MS}` }
}

function asked(
  path: string,
  given: [string, [column: string, value: () => string]][],
  [since, before]: readonly [number, number],
  at: string,
): Query {
  const words = new URLSearchParams()
  const where = [`tenant_id = '${world.tenantId}'`]
  for (const [name, [column, value]] of given) {
    const drawn = value()
    words.set(name, drawn)
    where.push(`${column} = '${drawn}'`)
  }
  const range = (name: string, time: number, sign: string): void => {
    if (!random.chance(0.3)) return
    words.set(name, new Date(time).toISOString())
    where.push(`${at} ${sign} ${time}`)
  }
  range('startDate', since, '>=')
  range('endDate', before, '<=')
  const [page, limit] = [random.pick([1, 1, 2, 7, 40]), random.int(1, 100)]
  words.set('page', String(page))
  words.set('limit', String(limit))
  return { path: `${path}?${words.toString()}`, where: where.join(' AND '), page, limit }
}

/** Returns the expected page, by plain SQL. */
async function expected({ path, where, page, limit }: Query): Promise<{ total: number; ids: string[] }> {
  const [table, id, at] = path.startsWith('/v1/sms')
    ? ['messages', 'id', 'created_at']
    : ['webhook_attempts', 'delivery_id', 'attempted_at']
  const { gate } = world.gateway.database
  const { rows } = await gate.execute(
    `SELECT ${id} AS id FROM ${table} WHERE ${where} ORDER BY ${at} DESC, seq DESC LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
  )
  const total = await count(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)
  return { total, ids: rows.map((row) => String(row['id'])) }
}

interface Listed {
  total: number
  messages?: { messageId: string; body: string }[]
  attempts?: { deliveryId: string }[]
}

/** Compares both during a time without writes, because messages are being sent. */
async function expectExact(query: Query, after: string): Promise<void> {
  await until(async () => {
    const changes = await count('SELECT total_changes() AS n')
    const wanted = await expected(query)
    const { body } = await world.json<Listed>('GET', query.path)
    if ((await count('SELECT total_changes() AS n')) !== changes) return false
    const ids = body.messages?.map((one) => one.messageId) ?? body.attempts?.map((one) => one.deliveryId)
    expect({ seed: SEED, after, path: query.path, total: body.total, ids }).toEqual({
      seed: SEED,
      after,
      path: query.path,
      ...wanted,
    })
    return true
  })
}

async function step(draws: Random): Promise<string> {
  const name = draws.pick(Object.keys(OPERATIONS))
  await OPERATIONS[name]?.()
  return name
}

test(`totals and pages are exact after every random operation, seed ${SEED}`, async () => {
  const done: string[] = []
  for (let n = 0; n < STEPS; n++) {
    done.push(await step(random))
    for (let asking = 0; asking < QUERIES_PER_STEP; asking++)
      await expectExact(random.chance(0.7) ? randomMessagesQuery() : randomDeliveriesQuery(), done.slice(-5).join(', '))
  }
}, 120_000)

test('a page of many messages shows texts unchanged', async () => {
  for (const body of [
    '"\\/\b\f\n\r\t\u0001\u007f',
    '\u2028\u2029\ufeff',
    'é漢😀\u{10ffff}',
    "','] }, null",
    '1e999',
    'true',
  ]) {
    const messageId = await world.send({ to: contact(), body, userId: 'letter' })
    const { body: page } = await world.json<Listed>('GET', '/v1/sms/messages?userId=letter&limit=1')
    expect(page.messages?.[0]).toMatchObject({ messageId, body })
  }
})
