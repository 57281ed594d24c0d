import { expect, spyOn, test } from 'bun:test'
import { insertDeliveries, messageIdOf } from '../../support/delivery-rows.ts'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts } from '../../support/provider-events.ts'
import {
  advanceInSteps,
  attemptsEnded,
  openFailingWebhook,
  setWebhookUrl,
  startFailingReceiver,
} from '../../support/retries.ts'
import { type World, createWorld } from '../../support/world.ts'

const PATH = '/v1/webhook-deliveries/recover'
const MINUTE = 60_000
const iso = (at: number): string => new Date(at).toISOString()

const recover = (world: World, body: unknown, key = world.key) => world.json('POST', PATH, { body, key })

test('each delivery whose latest attempt failed in the range gets one attempt, and others get none', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  const inject = async (text: string): Promise<void> => {
    await world.control.injectSms({ text })
    await attemptsEnded(world, clock)
    clock.advance(MINUTE)
  }
  await inject('before')
  const since = clock.now() - MINUTE / 2
  await inject('first')
  await inject('second')
  const until = clock.now() - MINUTE / 2
  await inject('after')
  receiver.answer = () => new Response('ok')
  await inject('fine')
  const before = receiver.requests.length
  expect(await recover(world, { since: iso(since), until: iso(until) })).toEqual({
    status: 202,
    body: { scheduled: 2 },
  })
  await attemptsEnded(world, clock)
  expect(
    receiver.requests
      .slice(before)
      .map(({ body }) => body['body'])
      .toSorted(),
  ).toEqual(['first', 'second'])
  // Their latest attempts have succeeded.
  expect((await recover(world, { since: iso(since), until: iso(until) })).body).toEqual({ scheduled: 0 })
  expect((await recover(world, { since: '2026-01-01' })).body).toEqual({ scheduled: 2 })
  await attemptsEnded(world, clock)
  expect(receiver.overlaps).toEqual([])
})

test('waiting retries are made now and their schedules continue; due retries are not counted', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock, receiver } = failing
  for (const text of ['one', 'two']) await world.control.injectSms({ text })
  await receiver.received(2)
  await attemptsEnded(world, clock)
  expect((await recover(world, { since: '2026-01-01' })).body).toEqual({ scheduled: 2 })
  await receiver.received(4)
  await attemptsEnded(world, clock)
  await advanceInSteps(world, clock, 120 * MINUTE, MINUTE)
  expect(receiver.requests).toHaveLength(12)
  expect(Math.max(...(await attempts(world)).map((attempt) => Number(attempt['attemptNumber'])))).toBe(6)
})

test('a failure counts at the time when its attempt ended', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  const begun = clock.now()
  receiver.answer = () => new Promise(() => {})
  await world.control.injectSms({ text: 'hangs' })
  await receiver.received(1)
  clock.advance(5000)
  await attemptsEnded(world, clock)
  expect((await recover(world, { since: iso(begun), until: iso(begun + 4999) })).body).toEqual({ scheduled: 0 })
  receiver.answer = () => new Response('ok')
  expect((await recover(world, { since: iso(begun + 5000) })).body).toEqual({ scheduled: 1 })
  await attemptsEnded(world, clock)
})

test('appId and triggerId limit a recovery; those of another tenant are forbidden', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  const { body } = await world.json('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  const triggerId = String(body['triggerId'])
  await world.control.injectSms({ text: 'to both' })
  await receiver.received(2)
  await attemptsEnded(world, clock)
  const other = await world.otherTenant()
  for (const id of [other.appId, 'app_0', '', 7])
    await expectError(await world.call('POST', PATH, { body: { since: '2026-01-01', appId: id } }), 403, 'Forbidden')
  for (const id of ['trg_0123456789abcdef', 'nothing'])
    await expectError(
      await world.call('POST', PATH, { body: { since: '2026-01-01', triggerId: id } }),
      403,
      'Forbidden',
    )
  expect((await recover(world, { since: '2026-01-01' }, other.apiKey)).body).toEqual({ scheduled: 0 })
  const both = { since: '2026-01-01', triggerId, appId: world.app.appId }
  expect((await recover(world, both)).body).toEqual({ scheduled: 0 })
  expect((await recover(world, { since: '2026-01-01', triggerId, appId: null })).body).toEqual({ scheduled: 1 })
  await receiver.received(3)
  expect(receiver.requests[2]?.body).toMatchObject({ triggerId })
  await attemptsEnded(world, clock)
  expect((await recover(world, { since: '2026-01-01', appId: world.app.appId })).body).toEqual({ scheduled: 1 })
  await attemptsEnded(world, clock)
})

test('since is required; since and until are date-times with offset, or days', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const bad = [
    undefined,
    null,
    '',
    7,
    'yesterday',
    '2026-02-30',
    '2026-11-21T10:00:00',
    '2026-11-21T10:00:00 02:00',
    ['2026-11-21'],
    '2026-11-21\0',
  ]
  for (const since of bad)
    await expectError(await world.call('POST', PATH, { body: { since, until: 7 } }), 400, 'Invalid since')
  for (const until of bad.slice(2))
    await expectError(await world.call('POST', PATH, { body: { since: '2026-11-21', until } }), 400, 'Invalid until')
  for (const body of ['[]', '7', 'null', undefined])
    await expectError(await world.call('POST', PATH, { body }), 400, 'Invalid since')
  await expectError(await world.call('POST', PATH, { body: '{' }), 400, 'Invalid JSON')
  expect((await recover(world, { since: '2026-11-22', until: '2026-11-21' })).body).toEqual({ scheduled: 0 })
})

test('many calls at once share no long commit', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  const at = world.gateway.clock.now()
  const target = { kind: 'app', targetId: world.app.appId, outcome: 'http_error' } as const
  await insertDeliveries(world, [{ messageId: messageIdOf(1), ...target, attemptedAt: at }])
  const batch = spyOn(gate, 'batch')
  await Promise.all(Array.from({ length: 40 }, () => recover(world, { since: iso(at - MINUTE) })))
  const steps = batch.mock.calls.map(([statements]) =>
    statements.filter((one) => JSON.stringify(one).includes('latest')),
  )
  batch.mockRestore()
  expect(steps.flat()).toHaveLength(40)
  expect(Math.max(...steps.map(({ length }) => length))).toBeLessThanOrEqual(8)
})

test('a recovery makes the 10,000 oldest of more deliveries', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await setWebhookUrl(world, 'http://127.0.0.1:9/hook')
  const { gate } = world.gateway.database
  const count = 10_050
  await gate.execute({
    sql: `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      SELECT 'msg_' || printf('%012x', value), 'job_' || value, ?1, '', 'inbound', '+15555550123', '+15555550100', 'x', 'received', 0, 0
      FROM (WITH RECURSIVE n (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < ?2) SELECT value FROM n)`,
    args: [world.tenantId, count - 1],
  })
  const day = Date.parse('2026-11-20T00:00:00Z')
  await insertDeliveries(
    world,
    Array.from({ length: count }, (_, n) => ({
      messageId: messageIdOf(n),
      kind: 'app',
      targetId: world.app.appId,
      outcome: 'timeout',
      attemptedAt: day + n,
    })),
  )
  expect((await recover(world, { since: '2026-11-20' })).body).toEqual({ scheduled: 10_000 })
  const { rows } = await gate.execute("SELECT max(subject) AS last FROM jobs WHERE kind = 'webhook_retry'")
  expect(rows[0]?.['last']).toBe(`${messageIdOf(9999)}:${world.app.appId}`)
  expect((await recover(world, { since: '2026-11-20' })).body).toEqual({ scheduled: 50 })
  expect((await recover(world, { since: '2026-11-20' })).body).toEqual({ scheduled: 0 })
})
