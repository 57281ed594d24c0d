import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { listenTo } from '../../support/socket.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

const BLOCKED = { status: 'failed', error: 'Recipient opted out' }
const optOut = (world: World, optedOut = true) =>
  world.json('PUT', '/v1/opt-outs', { body: { number: FROM, contact: TO, optedOut } })
const setPolicy = (world: World, policy: string) => world.json('PUT', '/v1/opt-outs/policy', { body: { policy } })
const sent = (world: World): unknown[] => world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

test('with `block`, a message to a contact that opted out fails without a call, with the events queued, sending and failed', async () => {
  await using world = await createWorld()
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await setPolicy(world, 'block')
  await optOut(world)
  const messageId = await world.send()
  expect(await world.untilStatus(messageId)).toMatchObject(BLOCKED)
  expect(world.control.requests({ route: 'sms' })).toEqual([])
  expect(socket.ofType('sms_status').map(({ status, error }) => [status, error])).toEqual([
    ['queued', undefined],
    ['sending', undefined],
    ['failed', BLOCKED.error],
  ])
  const { rows } = await world.gateway.database.gate.execute('SELECT error_code FROM messages')
  expect(rows).toEqual([{ error_code: 'opted_out' }])
  expect((await world.gateway.database.gate.execute('SELECT * FROM send_attempts')).rows).toEqual([])
  expect((await world.gateway.database.gate.execute(`SELECT * FROM jobs WHERE kind = 'send'`)).rows).toEqual([])
})

test('messages of other pairs are sent, and of this pair after an opt-in or with `observe`', async () => {
  await using world = await createWorld()
  await optOut(world)
  expect(await world.untilStatus(await world.send({ body: 'observed' }))).toMatchObject({ status: 'sent' })
  await setPolicy(world, 'block')
  const others = [
    await world.send({ body: 'number', from: FROM_2 }),
    await world.send({ body: 'contact', to: '+15555550198' }),
  ]
  for (const id of others) expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
  expect(await world.untilStatus(await world.send({ body: 'never' }))).toMatchObject(BLOCKED)
  await optOut(world, false)
  expect(await world.untilStatus(await world.send({ body: 'again' }))).toMatchObject({ status: 'sent' })
  expect(sent(world)).toEqual(['observed', 'number', 'contact', 'again'])
})

test('a contact that opts out while messages wait gets none of them, because the check happens at their turn', async () => {
  await using world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '1' } })
  await setPolicy(world, 'block')
  world.control.fault({ route: 'sms', fault: { kind: 'delay', ms: 200 } })
  const first = await world.send({ body: 'first' })
  await world.untilStatus(first, ['sending'])
  const waiting = await world.send({ body: 'waiting' })
  expect(await world.status(waiting)).toMatchObject({ status: 'queued' })
  await optOut(world)
  expect(await world.untilStatus(first)).toMatchObject({ status: 'sent' })
  // The message has its turn a minute later, when the window of the number has a free slot. It is not checked before.
  expect(await world.status(waiting)).toMatchObject({ status: 'queued' })
})

test('a retry fails if the recipient has opted out meanwhile', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  await setPolicy(world, 'block')
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } })
  const messageId = await world.send()
  await world.untilStatus(messageId, ['sending'])
  await optOut(world)
  await until(async () => (clock.advance(100), (await world.status(messageId))['status'] === 'failed'))
  expect(await world.status(messageId)).toMatchObject(BLOCKED)
  expect(sent(world)).toEqual([])
})

test('messages behind a blocked one are sent, and it uses no slot of the rate window', async () => {
  await using world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '2', EXTENSION_LIMIT_PER_MINUTE: '40' } })
  await setPolicy(world, 'block')
  await optOut(world)
  const blocked = await Promise.all(Array.from({ length: 10 }, (_, index) => world.send({ body: `blocked ${index}` })))
  const others = [await world.send({ to: '+15555550198' }), await world.send({ to: '+15555550197' })]
  for (const id of blocked) expect(await world.untilStatus(id)).toMatchObject(BLOCKED)
  for (const id of others) expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
})
