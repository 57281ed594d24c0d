import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Registered } from '../../../src/api/apps/schemas.ts'
import { type DeliveryRow, insertDeliveries, messageIdOf } from '../../support/delivery-rows.ts'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld } from '../../support/world.ts'

interface Page {
  attempts: Record<string, unknown>[]
  total: number
  page: number
  limit: number
}

const DAY_MS = 86_400_000
const DAY = Date.parse('2026-11-21T00:00:00.000Z')
const OUTCOMES = ['success', 'http_error', 'timeout', 'network_error'] as const

/**
 * Has 24 hourly attempts on the 21st, one at the adjacent end of the day before and after it, and one of another
 * tenant.
 */
let world: World
let second: Registered
let stranger: Registered
let triggerId: string
let foreignTrigger: string

beforeAll(async () => {
  world = await createWorld({ connect: false, work: false, clock: manualClock(DAY + 2 * DAY_MS) })
  second = await world.secondApp()
  stranger = await world.otherTenant()
  const create = async (key: string): Promise<string> =>
    (
      await world.json<{ triggerId: string }>('POST', '/v1/triggers', {
        key,
        body: { callbackUrl: 'http://127.0.0.1:9/' },
      })
    ).body.triggerId
  triggerId = await create(world.key)
  foreignTrigger = await create(stranger.apiKey)
  const targets = [world.app.appId, second.appId, triggerId]
  const row = (n: number, attemptedAt: number): DeliveryRow => ({
    messageId: messageIdOf(n),
    kind: n % 3 === 2 ? 'trigger' : 'app',
    targetId: targets[n % 3] ?? '',
    outcome: OUTCOMES[n % 4] ?? 'success',
    attemptedAt,
  })
  const hours = Array.from({ length: 24 }, (_, hour) => row(hour, DAY + hour * 3_600_000))
  const around = [row(30, DAY - 1), row(31, DAY + 86_400_000)]
  const foreign: DeliveryRow = {
    messageId: messageIdOf(99),
    kind: 'app',
    targetId: stranger.appId,
    outcome: 'success',
    attemptedAt: DAY,
    tenantId: stranger.tenantId,
  }
  await insertDeliveries(world, [...hours, ...around, foreign])
})
afterAll(() => world[Symbol.asyncDispose]())

const list = async (query = '', key = world.key): Promise<Page> =>
  (await world.json<Page>('GET', `/v1/webhook-deliveries?${query}`, { key })).body
const total = async (query: string): Promise<number> => (await list(query)).total

describe('order and pages', () => {
  test('attempts are newest first, 20 per page by default', async () => {
    const page = await list()
    expect(page).toMatchObject({ total: 26, page: 1, limit: 20 })
    const times = page.attempts.map((attempt) => String(attempt['attemptedAt']))
    expect(times).toEqual(times.toSorted().toReversed())
    expect(times[0]).toBe('2026-11-22T00:00:00.000Z')
    expect((await list('page=2')).attempts).toHaveLength(6)
    expect((await list('page=3')).attempts).toEqual([])
  })

  test('of simultaneous attempts, the last inserted is first', async () => {
    const at = Date.parse('2026-11-10T00:00:00.000Z')
    const rows = [1, 2, 3].map((n) => ({
      messageId: messageIdOf(200 + n),
      kind: 'app' as const,
      targetId: second.appId,
      outcome: 'success' as const,
      attemptedAt: at,
    }))
    await insertDeliveries(world, rows)
    const { attempts } = await list('endDate=2026-11-10')
    expect(attempts.map((attempt) => attempt['messageId'])).toEqual([203, 202, 201].map(messageIdOf))
    await world.gateway.database.gate.execute({
      sql: 'DELETE FROM webhook_attempts WHERE attempted_at = ?1',
      args: [at],
    })
  })

  test.each([
    ['page=0', 1, 20],
    ['page=-5&limit=0', 1, 1],
    ['limit=1000', 1, 100],
    ['limit=abc&page=xyz', 1, 20],
    ['page=2&limit=10', 2, 10],
    ['page=1.5&limit=', 1, 20],
  ])('%s is clamped to page %d of %d', async (query, page, limit) => {
    expect(await list(query)).toMatchObject({ page, limit, total: 26 })
  })
})

describe('filters', () => {
  test('attempts can be filtered by app, trigger, kind, outcome and message', async () => {
    expect(await total(`appId=${world.app.appId}`)).toBe(9)
    expect(await total(`appId=${second.appId}`)).toBe(9)
    expect(await total(`triggerId=${triggerId}`)).toBe(8)
    expect(await total('kind=trigger')).toBe(8)
    expect(await total('kind=app')).toBe(18)
    for (const outcome of OUTCOMES) expect(await total(`outcome=${outcome}`)).toBeWithin(6, 8)
    expect(await total(`messageId=${messageIdOf(7)}`)).toBe(1)
    expect(await total(`messageId=${messageIdOf(99)}`)).toBe(0)
    expect(await total(`appId=${second.appId}&kind=trigger`)).toBe(0)
    expect(await total(`appId=${world.app.appId}&triggerId=${triggerId}`)).toBe(0)
    expect(await total(`appId=${second.appId}&outcome=success&messageId=${messageIdOf(4)}`)).toBe(1)
  })

  test('each attempt has the fields of its kind', async () => {
    for (const attempt of (await list('limit=100')).attempts) {
      const isApp = attempt['kind'] === 'app'
      expect(Object.keys(attempt).toSorted()).toEqual(
        [
          'attemptNumber',
          'attemptedAt',
          'correlationId',
          'deliveryId',
          'durationMs',
          'kind',
          'messageId',
          'outcome',
          'tenantId',
          isApp ? 'appId' : 'triggerId',
          'url',
        ].toSorted(),
      )
      expect(attempt['deliveryId']).toBe(
        `${String(attempt['messageId'])}:${String(isApp ? attempt['appId'] : attempt['triggerId'])}`,
      )
    }
  })

  test('a range of time includes both ends, and a date without a time means the complete day', async () => {
    expect(await total('startDate=2026-11-21&endDate=2026-11-21')).toBe(24)
    expect(await total('startDate=2026-11-21')).toBe(25)
    expect(await total('endDate=2026-11-20')).toBe(1)
    expect(await total('startDate=2026-11-21T01:00:00Z&endDate=2026-11-21T03:00:00.000Z')).toBe(3)
    expect(await total('startDate=2026-11-21T03:00:00%2B02:00&endDate=2026-11-21T03:00:00+02:00')).toBe(1)
    expect(await total('startDate=2026-11-23')).toBe(0)
  })

  test('an empty value counts as absent', async () => {
    expect(await total('appId=&triggerId=&messageId=&outcome=&kind=&startDate=&endDate=&page=&limit=')).toBe(26)
  })

  test.each([
    ['outcome=ok', 'Invalid outcome'],
    ['outcome=SUCCESS', 'Invalid outcome'],
    ['kind=webhook', 'Invalid kind'],
    ['messageId=msg_1', 'Invalid messageId'],
    ['messageId=msg_00000000000G', 'Invalid messageId'],
    ['messageId=MSG_000000000001', 'Invalid messageId'],
    ['startDate=yesterday', 'Invalid startDate'],
    ['startDate=2026-11-21T00:00:00', 'Invalid startDate'],
    ['startDate=2026-02-30', 'Invalid startDate'],
    ['endDate=1763683200000', 'Invalid endDate'],
    ['endDate=2026-11-21T25:00:00Z', 'Invalid endDate'],
  ])('%s is 400 %s', async (query, error) => {
    await expectError(await world.call('GET', `/v1/webhook-deliveries?${query}`), 400, error)
  })
})

describe('access', () => {
  test("another tenant's app or trigger and an unknown one are 403", async () => {
    const foreign = [
      `appId=${stranger.appId}`,
      `triggerId=${foreignTrigger}`,
      'appId=app_0000000000000000',
      'triggerId=trg_0000000000000000',
      'appId=x',
      `appId=${triggerId}`,
      `triggerId=${second.appId}x`,
    ]
    for (const query of foreign)
      await expectError(await world.call('GET', `/v1/webhook-deliveries?${query}`), 403, 'Forbidden')
  })

  test('every key of a tenant sees the same attempts, and none of other tenants', async () => {
    expect((await list('limit=1', second.apiKey)).total).toBe(26)
    expect((await list('', stranger.apiKey)).attempts).toMatchObject([
      { messageId: messageIdOf(99), appId: stranger.appId },
    ])
  })

  test('the log of a deactivated app and of a deleted trigger is kept', async () => {
    const extra = await world.secondApp()
    const { triggerId: removed } = (
      await world.json<{ triggerId: string }>('POST', '/v1/triggers', { body: { callbackUrl: 'http://127.0.0.1:9/' } })
    ).body
    await insertDeliveries(world, [
      {
        messageId: messageIdOf(301),
        kind: 'app',
        targetId: extra.appId,
        outcome: 'success',
        attemptedAt: DAY - DAY_MS,
      },
      {
        messageId: messageIdOf(302),
        kind: 'trigger',
        targetId: removed,
        outcome: 'success',
        attemptedAt: DAY - DAY_MS,
      },
    ])
    await world.call('DELETE', `/v1/apps/${extra.appId}`, { key: extra.apiKey })
    await world.call('DELETE', `/v1/triggers/${removed}`)
    expect(await total(`appId=${extra.appId}`)).toBe(1)
    expect(await total(`triggerId=${removed}`)).toBe(1)
    await expectError(
      await world.call('GET', `/v1/webhook-deliveries?triggerId=${removed}`, { key: stranger.apiKey }),
      403,
      'Forbidden',
    )
    await world.gateway.database.gate.execute(`DELETE FROM webhook_attempts WHERE attempted_at = ${DAY - DAY_MS}`)
  })

  test('the list requires a key', async () => {
    await expectError(
      await world.call('GET', '/v1/webhook-deliveries', { key: null }),
      401,
      'Missing or invalid API key',
    )
  })

  test('an attempt under way is not listed', async () => {
    await insertDeliveries(world, [
      { messageId: messageIdOf(400), kind: 'app', targetId: second.appId, outcome: 'success', attemptedAt: 5 },
    ])
    await world.gateway.database.gate.execute('UPDATE webhook_attempts SET outcome = NULL WHERE attempted_at = 5')
    expect(await total(`messageId=${messageIdOf(400)}`)).toBe(0)
    await world.gateway.database.gate.execute('DELETE FROM webhook_attempts WHERE attempted_at < 10')
  })
})

test('attempts are listed for 30 days by the clock, and a clock that is set forward deletes none of them', async () => {
  const clock = manualClock(DAY)
  await using one = await createWorld({ connect: false, clock })
  // The provider has not answered, so the clock is not trusted, and nothing is purged.
  const target = { kind: 'app', targetId: one.app.appId, outcome: 'success' } as const
  const ages = [0, 29 * DAY_MS, 30 * DAY_MS, 30 * DAY_MS + 1, 400 * DAY_MS]
  await insertDeliveries(
    one,
    ages.map((age, n) => ({ messageId: messageIdOf(n), ...target, attemptedAt: DAY - age })),
  )
  const listed = async (query = ''): Promise<unknown> => {
    const { body } = await one.json<Page>('GET', `/v1/webhook-deliveries?${query}`)
    return { total: body.total, ids: body.attempts.map((attempt) => attempt['messageId']) }
  }
  const inRetention = { total: 3, ids: [0, 1, 2].map(messageIdOf) }
  expect(await listed()).toEqual(inRetention)
  expect(await listed('startDate=2020-01-01')).toEqual(inRetention)
  expect(await listed(`messageId=${messageIdOf(3)}`)).toEqual({ total: 0, ids: [] })
  const set = (ms: number): void => void Object.assign(clock, { now: () => DAY + ms })
  set(31 * DAY_MS)
  expect(await listed()).toEqual({ total: 0, ids: [] })
  set(365 * DAY_MS)
  expect(await listed()).toEqual({ total: 0, ids: [] })
  clock.advance(9 * 60_000)
  set(0)
  expect(await listed()).toEqual(inRetention)
})
