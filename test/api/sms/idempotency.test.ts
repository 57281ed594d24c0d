import { expect, spyOn, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { readyWorld } from '../../support/ready-world.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const CONFLICT = 'Idempotency-Key was used with a different request'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })
/** A message either waits for its turn, or its attempt begins with its commit. */
const WAYS = [
  ['waits', quiet],
  ['begins at once', readyWorld],
] as const

const attempts = async (world: World): Promise<unknown> =>
  (await world.gateway.database.gate.execute('SELECT count(*) AS n FROM send_attempts')).rows[0]?.['n']

const send = (world: World, idempotencyKey: string, change: object = {}, key = world.key): Promise<Response> =>
  world.call('POST', '/v1/sms/send', {
    key,
    body: { from: FROM, to: TO, body: 'Hello', ...change },
    headers: { 'idempotency-key': idempotencyKey },
  })

const total = async (world: World): Promise<unknown> => (await world.json('GET', '/v1/sms/messages')).body['total']

test('a repeated key and body get the first 202 again with a mark, and only one message', async () => {
  await using world = await createWorld()
  const first = await send(world, 'order-1')
  const accepted = (await first.json()) as { messageId: string }
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  await world.untilStatus(accepted.messageId, ['sent'])
  const second = await send(world, 'order-1')
  expect(second.status).toBe(202)
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
  expect(second.headers.get('x-request-id')).not.toBeNull()
  expect(await second.json()).toEqual({ messageId: accepted.messageId, status: 'queued' })
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(1)
})

test('a request that release 1.0.0 accepted is recognised: a later field changes no hash of requests without it', async () => {
  await using world = await quiet()
  // As 1.0.0 stored them: sha256 of ["+15555550199","+15555550100","Grüße 👋",null], and with "user-42". The last one has its sendAt in
  // milliseconds behind them.
  const stored: [key: string, hash: string, change: object][] = [
    ['plain', '0a0be5eef265bbabd6583819aadc3867d2826c5edef9004984f9260d192ccde1', {}],
    ['null', '0a0be5eef265bbabd6583819aadc3867d2826c5edef9004984f9260d192ccde1', { userId: null }],
    ['user', '1c8c9e0feac6ffa390207e63bc0d6eb2f48149f6ecc76b99eae9097101002fc6', { userId: 'user-42' }],
    [
      'scheduled',
      '5c3adf40c09708e14dda714faaa4965e61b370595dd95e2c8c35aaf05f2f290d',
      { sendAt: '2020-01-01T01:00:00+01:00' },
    ],
  ]
  for (const [key, hash, change] of stored) {
    await world.gateway.database.gate.execute({
      sql: 'INSERT INTO idempotency_keys (app_id, key, request_hash, message_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)',
      args: [world.app.appId, key, hash, `msg_of_${key}`, world.gateway.clock.now()],
    })
    const again = await send(world, key, { body: 'Grüße 👋', ...change })
    expect([key, again.status, await again.json()]).toEqual([
      key,
      202,
      { messageId: `msg_of_${key}`, status: 'queued' },
    ])
    expect((await send(world, key, { body: 'Grüße', ...change })).status).toBe(409)
  }
})

test.each(WAYS)('simultaneous requests with one key create one message (%s)', async (_way, create) => {
  await using world = await create()
  const responses = await Promise.all(Array.from({ length: 20 }, () => send(world, 'race')))
  const answers = await Promise.all(responses.map((response) => response.json() as Promise<{ messageId: string }>))
  expect(new Set(responses.map((response) => response.status))).toEqual(new Set([202]))
  expect(new Set(answers.map((answer) => answer.messageId)).size).toBe(1)
  expect(responses.filter((response) => response.headers.get('idempotent-replayed') === null)).toHaveLength(1)
  expect(await total(world)).toBe(1)
})

test.each(WAYS)(
  'of simultaneous requests with one key and two texts, one text is accepted and the other is a conflict (%s)',
  async (_way, create) => {
    await using world = await create()
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(world, 'race', { body: `text ${index % 2}` })),
    )
    expect(responses.filter((response) => response.status === 202)).toHaveLength(10)
    expect(responses.filter((response) => response.status === 409)).toHaveLength(10)
    expect(await total(world)).toBe(1)
  },
)

test.each(WAYS)('a key with a different request is a conflict, whichever field differs (%s)', async (_way, create) => {
  await using world = await create()
  expect((await send(world, 'order-1', { userId: 'u' })).status).toBe(202)
  for (const change of [
    { body: 'Other' },
    { to: '+15555550198' },
    { from: '+15555550101' },
    { userId: 'v' },
    { userId: null },
  ]) {
    await expectError(await send(world, 'order-1', { userId: 'u', ...change }), 409, CONFLICT)
  }
  expect(await total(world)).toBe(1)
})

test('the order of fields, unknown fields and an empty userId do not make a request different', async () => {
  await using world = await quiet()
  expect((await send(world, 'order-1')).status).toBe(202)
  for (const change of [{ userId: null }, { userId: '' }, { extra: 1 }])
    expect((await send(world, 'order-1', change)).headers.get('idempotent-replayed')).toBe('true')
})

test.each(WAYS)('keys belong to an app: another app may use the same (%s)', async (_way, create) => {
  await using world = await create()
  const second = await world.secondApp()
  expect((await send(world, 'order-1')).status).toBe(202)
  const theirs = await send(world, 'order-1', { body: 'Other' }, second.apiKey)
  expect(theirs.status).toBe(202)
  expect(theirs.headers.get('idempotent-replayed')).toBeNull()
  expect(await total(world)).toBe(2)
})

test('keys are case-sensitive and kept for 24 hours', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  await send(world, 'order-1')
  expect((await send(world, 'ORDER-1')).headers.get('idempotent-replayed')).toBeNull()
  clock.advance(24 * 3_600_000 - 1)
  expect((await send(world, 'order-1')).headers.get('idempotent-replayed')).toBe('true')
  clock.advance(2)
  expect((await send(world, 'order-1', { body: 'Other' })).status).toBe(202)
  expect(await total(world)).toBe(3)
})

test('a key survives a restart', async () => {
  await using first = await quiet()
  const accepted = (await (await send(first, 'order-1')).json()) as { messageId: string }
  await first.running.stop()
  await using second = await createWorld({ connect: false, work: false, folder: first.folder })
  const again = await send(second, 'order-1', {}, first.key)
  expect(await again.json()).toEqual({ messageId: accepted.messageId, status: 'queued' })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
})

test('a key is 1 to 255 visible ASCII characters', async () => {
  await using world = await quiet()
  for (const key of ['', 'a b', 'é', 'x'.repeat(256)]) {
    await expectError(await send(world, key), 400, 'Idempotency-Key must be 1-255 visible ASCII characters')
  }
  for (const key of ['x', '~!"#', 'x'.repeat(255)]) expect((await send(world, key)).status).toBe(202)
})

test.each(WAYS)('a request that is refused does not use up its key (%s)', async (_way, create) => {
  await using world = await create()
  expect((await send(world, 'order-1', { to: 'nonsense' })).status).toBe(400)
  const good = await send(world, 'order-1')
  expect(good.status).toBe(202)
  expect(good.headers.get('idempotent-replayed')).toBeNull()
})

test('new keys delete the expired ones', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  for (const key of ['a', 'b', 'c']) await send(world, key)
  clock.advance(24 * 3_600_000 + 1)
  await send(world, 'd')
  const { rows } = await world.gateway.database.gate.execute('SELECT key FROM idempotency_keys')
  expect(rows.map((row) => row['key'])).toEqual(['d'])
})

const keys = async (world: World): Promise<unknown> =>
  (await world.gateway.database.gate.execute('SELECT key FROM idempotency_keys')).rows.map((row) => row['key'])

test('a message whose conversation has a call under way waits with its key', async () => {
  await using world = await readyWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'hang', ms: 1000 } })
  const first = (await (await send(world, 'order-1')).json()) as { messageId: string }
  const second = (await (await send(world, 'order-2')).json()) as { messageId: string }
  expect(second.messageId).not.toBe(first.messageId)
  expect(await world.status(second.messageId)).toMatchObject({ status: 'queued' })
  expect(await (await send(world, 'order-2')).json()).toEqual({ messageId: second.messageId, status: 'queued' })
  expect(await total(world)).toBe(2)
})

test('a key never returns a message that accidentally has the same id', async () => {
  await using world = await readyWorld()
  const taken = (await (await send(world, 'order-1')).json()) as { messageId: string }
  spyOn(world.gateway.ids, 'message').mockImplementationOnce(() => taken.messageId)
  const other = await send(world, 'order-2', { body: 'Another' })
  const { messageId } = (await other.json()) as { messageId: string }
  expect(messageId).not.toBe(taken.messageId)
  expect(other.headers.get('idempotent-replayed')).toBeNull()
  expect(await (await send(world, 'order-2', { body: 'Another' })).json()).toEqual({ messageId, status: 'queued' })
  expect(await total(world)).toBe(2)
})

test('a repeated request releases its slots in the rate windows', async () => {
  await using world = await readyWorld({ env: { FROM_LIMIT_PER_MINUTE: '3' } })
  const ids = new Set<string>()
  for (let n = 0; n < 10; n++)
    ids.add(((await (await send(world, 'order-1')).json()) as { messageId: string }).messageId)
  expect(ids.size).toBe(1)
  for (const key of ['order-2', 'order-3']) {
    const { messageId } = (await (await send(world, key, { body: key })).json()) as { messageId: string }
    await world.untilStatus(messageId, ['sent'])
  }
  expect(await total(world)).toBe(3)
})

test('a message with a key begins with its commit', async () => {
  await using world = await readyWorld()
  const release = holdCalls(world, 'sendSms')
  const { messageId } = (await (await send(world, 'order-1')).json()) as { messageId: string }
  expect(await world.status(messageId)).toMatchObject({ status: 'sending' })
  expect(await attempts(world)).toBe(1)
  release()
})

test('of simultaneous requests with a new key, only one keeps a slot', async () => {
  await using world = await readyWorld({ env: { FROM_LIMIT_PER_MINUTE: '2' } })
  await Promise.all(Array.from({ length: 20 }, () => send(world, 'race')))
  expect(await attempts(world)).toBe(1)
  expect(world.gateway.quota.numberWaitMs(FROM)).toBe(0)
  await send(world, 'another')
  await until(() => world.gateway.quota.numberWaitMs(FROM) > 0)
})

test('an expired key accepts a new message', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const first = (await (await send(world, 'order-1')).json()) as { messageId: string }
  clock.advance(24 * 3_600_000 + 1)
  const again = await send(world, 'order-1')
  expect(again.headers.get('idempotent-replayed')).toBeNull()
  expect(((await again.json()) as { messageId: string }).messageId).not.toBe(first.messageId)
  expect(await keys(world)).toEqual(['order-1'])
})

test.each(['before', 'after'])('a key can be used again after a disk failure %s the commit', async (moment) => {
  const clock = manualClock()
  await using world = await readyWorld({ clock, env: { RECONCILE_SETTLE: '1s' } })
  const { writer } = world.gateway.database
  const real = writer.row.bind(writer)
  spyOn(writer, 'row').mockImplementationOnce(async (operation, value) => {
    if (moment === 'after') await real(operation, value)
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
  })
  expect((await send(world, 'order-1')).status).toBe(503)
  const again = await send(world, 'order-1')
  expect(again.headers.get('idempotent-replayed')).toBe(moment === 'after' ? 'true' : null)
  const { messageId } = (await again.json()) as { messageId: string }
  await until(async () => {
    clock.advance(5000)
    return (await world.status(messageId))['status'] === 'sent'
  })
  expect(await total(world)).toBe(1)
  expect(world.control.messages({ direction: 'Outbound' }).filter(({ text }) => text === 'Hello')).toHaveLength(1)
})
