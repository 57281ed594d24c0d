import { expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { earliestAt, neverArrivedByTenant } from '../../../src/messages/webhooks/never-arrived.ts'
import { insertDeliveries, messageIdOf } from '../../support/delivery-rows.ts'
import { expectError } from '../../support/expect-error.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/process.ts'
import type { Receiver } from '../../support/receiver.ts'
import {
  advanceInSteps,
  attemptsEnded,
  openFailingWebhook,
  setRetryPolicy,
  setWebhookUrl,
  startFailingReceiver,
} from '../../support/retries.ts'
import { type World, createWorld } from '../../support/world.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const fine = () => new Response('ok')

interface Listed {
  total: number
  attempts: { deliveryId: string; attemptNumber: number; outcome: string; attemptedAt: string; triggerId?: string }[]
}

const listed = async (world: World, more = '', key = world.key): Promise<Listed> =>
  (await world.json<Listed>('GET', `/v1/webhook-deliveries?state=never_arrived${more}`, { key })).body

/** The numbers of the attempts in the list; its total is checked. */
async function numbers(world: World, more = ''): Promise<number[]> {
  const { total, attempts } = await listed(world, more)
  expect(total).toBe(attempts.length)
  return attempts.map(({ attemptNumber }) => attemptNumber)
}

interface Destination {
  neverArrived: number
  neverArrivedSince: string | null
  failingSince: string | null
  url: string
}

const destinations = async (world: World, key = world.key): Promise<Destination[]> =>
  (await world.json<{ destinations: Destination[] }>('GET', '/v1/overview', { key })).body.destinations

/** What the overview says of the only destination. */
async function counted(world: World): Promise<[count: number, since: string | null] | null> {
  const [one, ...others] = await destinations(world)
  expect(others).toEqual([])
  return one === undefined ? null : [one.neverArrived, one.neverArrivedSince]
}

async function inject({ world, clock }: { world: World; clock: ManualClock }, text: string): Promise<void> {
  await world.control.injectSms({ text })
  await attemptsEnded(world, clock)
  clock.advance(MINUTE)
}

const redeliver = async ({ world, clock }: { world: World; clock: ManualClock }, deliveryId: string) => {
  const path = `/v1/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver`
  expect((await world.call('POST', path)).status).toBe(202)
  await attemptsEnded(world, clock)
}

const dismiss = (world: World, body: object, key = world.key) =>
  world.json('POST', '/v1/webhook-deliveries/dismiss', { body, key })

test('what failed is listed and counted until it is delivered again, also while its destination answers other deliveries', async () => {
  await using failing = await openFailingWebhook('none')
  const { world, clock, receiver } = failing
  const began = new Date(clock.now()).toISOString()
  await inject(failing, 'lost')
  await inject(failing, 'lost, too')
  receiver.answer = fine
  await inject(failing, 'arrives')
  const { total, attempts } = await listed(world)
  expect([total, attempts.map(({ outcome, attemptNumber }) => [outcome, attemptNumber])]).toEqual([
    2,
    [
      ['http_error', 1],
      ['http_error', 1],
    ],
  ])
  expect(await counted(world)).toEqual([2, began])
  await redeliver(failing, String(attempts[1]?.deliveryId))
  expect((await listed(world)).attempts).toEqual(attempts.slice(0, 1))
  expect(await counted(world)).toEqual([1, String(attempts[0]?.attemptedAt)])
  await redeliver(failing, String(attempts[0]?.deliveryId))
  expect([await numbers(world), await counted(world)]).toEqual([[], [0, null]])
})

test('a redelivery takes a delivery out while it is open, and its failure brings it back with its newest attempt alone', async () => {
  await using failing = await openFailingWebhook('none')
  const { world, clock, receiver } = failing
  await inject(failing, 'slow')
  const [lost] = (await listed(world)).attempts
  const held = Promise.withResolvers<Response>()
  receiver.answer = () => held.promise
  const path = `/v1/webhook-deliveries/${encodeURIComponent(String(lost?.deliveryId))}/redeliver`
  expect((await world.call('POST', path)).status).toBe(202)
  await receiver.received(2)
  expect([await numbers(world), await counted(world)]).toEqual([[], [0, null]])
  held.resolve(new Response('no', { status: 503 }))
  await attemptsEnded(world, clock)
  expect(await numbers(world)).toEqual([2])
  receiver.answer = () => new Response('no', { status: 500 })
  await redeliver(failing, String(lost?.deliveryId))
  expect([await numbers(world), (await counted(world))?.[0]]).toEqual([[3], 1])
})

test('a delivery whose retries are planned is not listed; once the last has failed, it is', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock } = failing
  await world.control.injectSms({ text: 'tried six times' })
  await failing.receiver.received(1)
  await attemptsEnded(world, clock)
  expect([await numbers(world), (await counted(world))?.[0]]).toEqual([[], 0])
  await advanceInSteps(world, clock, 120 * MINUTE, MINUTE)
  expect(await numbers(world)).toEqual([6])
})

test('a retry that is given up leaves its delivery listed', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock } = failing
  await world.control.injectSms({ text: 'given up' })
  await failing.receiver.received(1)
  await attemptsEnded(world, clock)
  await setRetryPolicy(world, 'none')
  await advanceInSteps(world, clock, MINUTE, MINUTE / 2)
  expect([failing.receiver.requests.length, await numbers(world)]).toEqual([1, [1]])
})

test('nothing is listed for an app without an address, or inactive; with an address, or active again, it is', async () => {
  await using failing = await openFailingWebhook('none')
  const { world, receiver } = failing
  const other = await world.secondApp()
  await inject(failing, 'lost')
  await setWebhookUrl(world, null)
  expect([await numbers(world), (await destinations(world))[0]?.neverArrived]).toEqual([[], 0])
  await setWebhookUrl(world, receiver.url)
  expect(await numbers(world)).toEqual([1])
  await world.call('DELETE', `/v1/apps/${world.app.appId}`)
  expect((await listed(world, '', other.apiKey)).total).toBe(0)
  await world.gateway.database.gate.execute('UPDATE apps SET is_active = 1')
  expect((await listed(world, '', other.apiKey)).total).toBe(1)
})

test('nothing is listed for a trigger that was deleted, or whose address is gone (410)', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  const create = async () => (await world.json('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })).body
  const { triggerId } = await create()
  await inject({ world, clock }, 'lost')
  expect((await listed(world)).attempts).toMatchObject([{ triggerId, attemptNumber: 1 }])
  await world.call('DELETE', `/v1/triggers/${String(triggerId)}`)
  expect(await numbers(world)).toEqual([])
  await create()
  receiver.answer = () => new Response('gone', { status: 410 })
  await inject({ world, clock }, 'gone')
  expect([receiver.requests.length, await numbers(world)]).toEqual([2, []])
})

test('an app that answers 410 keeps its deliveries listed', async () => {
  await using failing = await openFailingWebhook('standard')
  failing.receiver.answer = () => new Response('gone', { status: 410 })
  await inject(failing, 'gone')
  expect(await numbers(failing.world)).toEqual([1])
})

test('a delivery older than 30 days is not listed', async () => {
  await using failing = await openFailingWebhook('none')
  const { world, clock } = failing
  await inject(failing, 'old')
  clock.advance(30 * DAY - 2 * MINUTE)
  expect(await numbers(world)).toEqual([1])
  clock.advance(2 * MINUTE)
  expect([await numbers(world), await counted(world)]).toEqual([[], null])
})

test('nothing is listed of a person who was erased', async () => {
  await using failing = await openFailingWebhook('none')
  const { world } = failing
  await inject(failing, 'lost')
  const [lost] = (await world.json<{ messages: { from: string }[] }>('GET', '/v1/sms/messages')).body.messages
  expect((await operate(world, 'POST', '/v1/operator/erase', { phone: lost?.from })).status).toBe(200)
  expect([await numbers(world), (await counted(world))?.[0]]).toEqual([[], 0])
})

/** Opens a copy of a gateway's database as after kill -9, or, without its mark, as after a restore. */
async function crashedCopy(world: World, clock: ManualClock, isRestored: boolean) {
  const folder = temporaryFolder()
  const path = folder.file('data')
  cpSync(world.folder, path, { recursive: true, filter: (source) => !/\.(sock|lock)$/.test(source) })
  if (isRestored) rmSync(`${path}/sgw.db.mark`)
  const copy = await createWorld({ clock, folder: path, connect: false })
  return {
    copy,
    async [Symbol.asyncDispose]() {
      await copy[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

for (const isRestored of [false, true])
  test(`what was under way at ${isRestored ? 'a restore' : 'a kill -9'} is listed once, by the interrupted attempt`, async () => {
    await using failing = await openFailingWebhook('none')
    const { world, clock, receiver } = failing
    await inject(failing, 'first')
    await inject(failing, 'second')
    const [second, first] = (await listed(world)).attempts
    const held = Promise.withResolvers<Response>()
    receiver.answer = () => held.promise
    const path = `/v1/webhook-deliveries/${encodeURIComponent(String(first?.deliveryId))}/redeliver`
    await world.call('POST', path)
    await receiver.received(3)
    await using crashed = await crashedCopy(world, clock, isRestored)
    await attemptsEnded(crashed.copy, clock)
    const { attempts, total } = await listed(crashed.copy, '', world.key)
    expect([total, attempts.map(({ deliveryId, attemptNumber }) => [deliveryId, attemptNumber])]).toEqual([
      2,
      [
        [String(first?.deliveryId), 2],
        [String(second?.deliveryId), 1],
      ],
    ])
    held.resolve(fine())
  })

test('a redelivery that waited at a restore is listed once, as interrupted', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  await inject({ world, clock }, 'lost')
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at, is_last)
      SELECT messages.job_id, 'webhook_retry', target_id, webhook_attempts.tenant_id, delivery_id, 9e15, ?1, 1
      FROM webhook_attempts JOIN messages ON messages.id = message_id`,
    args: [clock.now()],
  })
  expect(await numbers(world)).toEqual([])
  await using crashed = await crashedCopy(world, clock, true)
  await attemptsEnded(crashed.copy, clock)
  expect((await listed(crashed.copy, '', world.key)).attempts).toMatchObject([{ attemptNumber: 2 }])
})

test('the list goes with the other filters and pages, and is of its tenant alone', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await setWebhookUrl(world, 'http://127.0.0.1:9/')
  const { body } = await world.json('POST', '/v1/triggers', { body: { callbackUrl: 'http://127.0.0.1:9/t' } })
  const trigger = { kind: 'trigger', targetId: String(body['triggerId']) } as const
  const app = { kind: 'app', targetId: world.app.appId } as const
  const other = await world.otherTenant()
  const at = world.gateway.clock.now() - 10 * MINUTE
  await insertDeliveries(world, [
    { messageId: messageIdOf(1), ...app, outcome: 'http_error', attemptedAt: at },
    { messageId: messageIdOf(2), ...app, outcome: 'success', attemptedAt: at },
    { messageId: messageIdOf(2), ...trigger, outcome: 'timeout', attemptedAt: at + MINUTE },
    { messageId: messageIdOf(3), ...app, outcome: 'network_error', attemptedAt: at + 2 * MINUTE },
    {
      messageId: messageIdOf(4),
      kind: 'app',
      targetId: other.appId,
      tenantId: other.tenantId,
      outcome: 'timeout',
      attemptedAt: at,
    },
  ])
  const messages = async (more: string): Promise<(number | string)[]> => {
    const { attempts, total } = await listed(world, more)
    return [total, ...attempts.map(({ deliveryId }) => deliveryId.split(':')[0] ?? '')]
  }
  const [one, two, three] = [messageIdOf(1), messageIdOf(2), messageIdOf(3)]
  const iso = (time: number): string => encodeURIComponent(new Date(time).toISOString())
  expect(await messages('')).toEqual([3, three, two, one])
  expect(await messages('&limit=2')).toEqual([3, three, two])
  expect(await messages('&limit=2&page=2')).toEqual([3, one])
  expect(await messages('&page=9')).toEqual([3])
  expect(await messages(`&appId=${world.app.appId}`)).toEqual([2, three, one])
  expect(await messages(`&triggerId=${trigger.targetId}`)).toEqual([1, two])
  expect(await messages('&kind=trigger')).toEqual([1, two])
  expect(await messages(`&messageId=${two}`)).toEqual([1, two])
  expect(await messages('&outcome=success')).toEqual([0])
  expect(await messages('&outcome=timeout')).toEqual([1, two])
  expect(await messages(`&startDate=${iso(at + 1)}`)).toEqual([2, three, two])
  expect(await messages(`&endDate=${iso(at + 1)}`)).toEqual([1, one])
  expect(await messages(`&appId=${world.app.appId}&triggerId=${trigger.targetId}`)).toEqual([0])
})

test('what all tenants miss is one reading, which agrees with what each of them sees', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const other = await world.otherTenant()
  await world.otherTenant('Nothing')
  for (const key of [world.key, other.apiKey])
    await world.call('PUT', `/v1/apps/${key === world.key ? world.app.appId : other.appId}`, {
      body: { webhookUrl: 'http://127.0.0.1:9/' },
      key,
    })
  const attemptedAt = world.gateway.clock.now() - MINUTE
  const lost = { kind: 'app', outcome: 'timeout', attemptedAt } as const
  await insertDeliveries(world, [
    ...[1, 2, 3].map((n) => ({ ...lost, messageId: messageIdOf(n), targetId: world.app.appId })),
    { ...lost, messageId: messageIdOf(4), targetId: world.app.appId, attemptedAt: attemptedAt - 30 * DAY },
    { ...lost, messageId: messageIdOf(5), targetId: other.appId, tenantId: other.tenantId },
    { ...lost, messageId: messageIdOf(6), targetId: 'app_gone', tenantId: other.tenantId },
  ])
  const { database, clock } = world.gateway
  const rows = await database.reader.longRead('operator', neverArrivedByTenant('?1'), [earliestAt(clock)])
  const counts = new Map(rows.map((row) => [row['tenant_id'], row['count']]))
  expect([...counts].toSorted((a, b) => Number(b[1]) - Number(a[1]))).toEqual([
    [world.tenantId, 3],
    [other.tenantId, 1],
  ])
  for (const { apiKey, tenantId } of [world.app, other]) {
    expect((await listed(world, '', apiKey)).total).toBe(Number(counts.get(tenantId)))
    expect((await destinations(world, apiKey)).map(({ neverArrived }) => neverArrived)).toEqual([
      Number(counts.get(tenantId)),
    ])
  }
})

test('any other state is refused; an empty one is none', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const state of [
    'x',
    'NEVER_ARRIVED',
    ' never_arrived',
    'never_arrived,',
    'never_arrived%00',
    '1',
    'null',
    'x'.repeat(4000),
  ])
    await expectError(await world.call('GET', `/v1/webhook-deliveries?state=${state}`), 400, 'Invalid state')
  await expectError(await world.call('GET', '/v1/webhook-deliveries?state=never_arrived&state=x'), 400, 'Invalid state')
  for (const query of ['state=', 'state=x&state=never_arrived'])
    expect((await world.call('GET', `/v1/webhook-deliveries?${query}`)).status).toBe(200)
})

test('a dismissed delivery counts no longer, also for a recovery; delivered again without success, it counts again', async () => {
  await using failing = await openFailingWebhook('none')
  const { world, clock } = failing
  await inject(failing, 'one')
  await inject(failing, 'two')
  const [two, one] = (await listed(world)).attempts
  expect(await dismiss(world, { deliveryIds: [one?.deliveryId] })).toEqual({ status: 200, body: { dismissed: 1 } })
  expect((await listed(world)).attempts.map(({ deliveryId }) => deliveryId)).toEqual([String(two?.deliveryId)])
  expect(await counted(world)).toEqual([1, String(two?.attemptedAt)])
  expect((await dismiss(world, { deliveryIds: [one?.deliveryId] })).body).toEqual({ dismissed: 0 })
  const recovered = await world.json('POST', '/v1/webhook-deliveries/recover', { body: { since: '2026-01-01' } })
  expect(recovered.body).toEqual({ scheduled: 1 })
  await attemptsEnded(world, clock)
  expect(await numbers(world)).toEqual([2])
  await redeliver(failing, String(one?.deliveryId))
  expect(await numbers(world)).toEqual([2, 2])
})

const at = (receiver: Receiver): number => receiver.requests.length

test('a dismissal leaves what is under way, planned, delivered, unknown or of another tenant', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock, receiver } = failing
  await world.control.injectSms({ text: 'planned' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  const other = await world.otherTenant()
  const log = await world.json<Listed>('GET', '/v1/webhook-deliveries')
  const deliveryIds = log.body.attempts.map(({ deliveryId }) => deliveryId)
  expect((await dismiss(world, { deliveryIds })).body).toEqual({ dismissed: 0 })
  expect((await dismiss(world, { since: '2026-01-01' })).body).toEqual({ dismissed: 0 })
  await advanceInSteps(world, clock, 120 * MINUTE, MINUTE)
  expect(at(receiver)).toBe(6)
  expect((await dismiss(world, { deliveryIds }, other.apiKey)).body).toEqual({ dismissed: 0 })
  expect((await dismiss(world, { since: '2026-01-01' }, other.apiKey)).body).toEqual({ dismissed: 0 })
  expect((await dismiss(world, { deliveryIds: ['', 'x', "' OR 1=1 --", '%', `${deliveryIds[0]}\0`] })).body).toEqual({
    dismissed: 0,
  })
  expect(await numbers(world)).toEqual([6])
  expect((await dismiss(world, { deliveryIds: [...deliveryIds, ...deliveryIds] })).body).toEqual({ dismissed: 1 })
})

test('a range dismisses what failed in it, of one destination if it is named', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await setWebhookUrl(world, 'http://127.0.0.1:9/')
  const { body } = await world.json('POST', '/v1/triggers', { body: { callbackUrl: 'http://127.0.0.1:9/t' } })
  const triggerId = String(body['triggerId'])
  const start = world.gateway.clock.now() - DAY
  const iso = (minutes: number): string => new Date(start + minutes * MINUTE).toISOString()
  await insertDeliveries(
    world,
    Array.from({ length: 1000 }, (_, n) => ({
      messageId: messageIdOf(n),
      kind: n % 2 === 0 ? ('app' as const) : ('trigger' as const),
      targetId: n % 2 === 0 ? world.app.appId : triggerId,
      outcome: 'timeout' as const,
      attemptedAt: start + n * MINUTE,
    })),
  )
  expect((await dismiss(world, { since: iso(990), until: iso(994) })).body).toEqual({ dismissed: 4 })
  expect((await dismiss(world, { since: iso(900), triggerId })).body).toEqual({ dismissed: 48 })
  expect((await dismiss(world, { since: iso(900), appId: world.app.appId, triggerId })).body).toEqual({ dismissed: 0 })
  expect((await dismiss(world, { since: iso(0) })).body).toEqual({ dismissed: 948 })
  expect(await numbers(world)).toEqual([])
})

const HOSTILE = [7, 'x', {}, [7], [null], [[]], [{}], Array.from({ length: 1001 }, () => 'x')]

test('a dismissal has ids or a range, not both, and at most 1,000 ids', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const refused = async (body: unknown, text: string, status = 400): Promise<void> =>
    expectError(await world.call('POST', '/v1/webhook-deliveries/dismiss', { body }), status, text)
  for (const deliveryIds of HOSTILE) await refused({ deliveryIds }, 'Invalid deliveryIds')
  for (const more of [{ since: '2026-11-21' }, { until: '2026-11-21' }, { appId: 'app_1' }, { triggerId: 'trg_1' }])
    await refused({ deliveryIds: ['x'], ...more }, 'Invalid deliveryIds')
  for (const body of [
    {},
    { deliveryIds: null },
    { until: '2026-11-21' },
    { since: null },
    '[]',
    '7',
    'null',
    undefined,
  ])
    await refused(body, 'Invalid since')
  for (const since of ['', 7, 'yesterday', '2026-02-30', '2026-11-21T10:00:00', ['2026-11-21'], '2026-11-21\0'])
    await refused({ since, until: 7 }, 'Invalid since')
  for (const until of ['', 7, 'tomorrow', {}]) await refused({ since: '2026-11-21', until }, 'Invalid until')
  await refused('{', 'Invalid JSON')
  const other = await world.otherTenant()
  for (const appId of [other.appId, 'app_0', '', 7, []]) await refused({ since: '2026-11-21', appId }, 'Forbidden', 403)
  for (const triggerId of ['trg_0123456789abcdef', '', 7])
    await refused({ since: '2026-11-21', triggerId }, 'Forbidden', 403)
  await expectError(
    await world.call('POST', '/v1/webhook-deliveries/dismiss', { body: { since: '2026-11-21' }, key: null }),
    401,
    'Missing or invalid API key',
  )
  const most = { deliveryIds: Array.from({ length: 1000 }, (_, n) => `msg_${n}`), since: null, appId: null }
  expect((await dismiss(world, most)).body).toEqual({ dismissed: 0 })
  expect((await dismiss(world, { deliveryIds: [] })).body).toEqual({ dismissed: 0 })
})
