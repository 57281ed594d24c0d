import { expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { HeldReplica } from '../support/held-replica.ts'
import { listenTo } from '../support/socket.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const send = (world: World, body: string, key?: string): Promise<Response> =>
  world.call('POST', '/v1/sms/send', {
    body: { from: FROM, to: TO, body },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })

const ready = async (world: World): Promise<number> => (await fetch(`${world.running.adminUrl}/ready`)).status

const sentTexts = (world: World): unknown[] => world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

/** Lists may show what is not stored yet. */
const untilListed = (world: World, messages: number): Promise<boolean> =>
  until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total >= messages)

test('a message is neither answered nor sent before the replica has it', async () => {
  const replica = new HeldReplica()
  await using world = await createWorld({ replica })
  await world.untilStatus(await world.send({ body: 'before' }))
  replica.hold()
  let answered = 0
  const answers = ['one', 'two'].map((body) => send(world, body).finally(() => answered++))
  await untilListed(world, 2)
  expect([answered, sentTexts(world)]).toEqual([0, ['before']])
  replica.release()
  for (const answer of answers) expect((await answer).status).toBe(202)
  await until(() => sentTexts(world).length === 3)
})

test('while the replica fails, sends are 503, nothing is sent, /ready says so, and the gateway recovers by itself', async () => {
  const replica = new HeldReplica()
  await using world = await createWorld({ replica, env: { ADMIN_PORT: '0' } })
  await world.untilStatus(await world.send({ body: 'before' }))
  replica.hold()
  const answer = send(world, 'in doubt', 'key-1')
  await untilListed(world, 2)
  replica.failure = 'the bucket is gone'
  replica.release()
  const refused = await answer
  expect(refused.headers.get('retry-after')).toBe('5')
  await expectError(refused, 503, 'Storage unavailable')
  expect((await send(world, 'refused')).status).toBe(503)
  expect([sentTexts(world), await ready(world)]).toEqual([['before'], 503])
  expect((await world.call('GET', '/v1/sms/messages')).status).toBe(200)
  replica.failure = null
  expect(await until(async () => (await ready(world)) === 200)).toBe(true)
  const again = await send(world, 'in doubt', 'key-1')
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect((await send(world, 'after')).status).toBe(202)
  await until(() => sentTexts(world).length >= 3)
  expect(sentTexts(world).toSorted()).toEqual(['after', 'before', 'in doubt'])
})

interface Page {
  events: { messageId: string; status: string }[]
  cursor: string
  gap: boolean
}

test('no client sees an event, or a cursor behind one, before the replica has it', async () => {
  const replica = new HeldReplica()
  await using world = await createWorld({ replica, work: false })
  await world.send({ body: 'before' })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const page = async (after?: string): Promise<Page> =>
    (await world.json<Page>('GET', `/v1/events${after === undefined ? '' : `?after=${after}`}`)).body
  const { cursor } = await page()
  replica.hold()
  const answer = world.send({ body: 'unstored' })
  await untilListed(world, 2)
  expect(await page(cursor)).toMatchObject({ events: [], gap: false })
  const unstored = await page()
  // One that connects now hears the event as well, because its cursor is before it.
  await using later = await listenTo(world.url, { apiKey: world.key })
  expect([socket.messages.length, later.messages.length]).toEqual([1, 1])
  replica.release()
  const messageId = await answer
  const event = { type: 'sms_status', messageId, status: 'queued' }
  for (const listener of [socket, later]) expect((await listener.received(2))[1]).toMatchObject(event)
  for (const after of [cursor, unstored.cursor, later.cursors[0]?.cursor])
    expect(await page(after)).toMatchObject({ events: [event], gap: false })
})

test('events that were not stored in time come when the replica works again, also without a further commit', async () => {
  const replica = new HeldReplica()
  await using world = await createWorld({ replica, work: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await world.send({ body: 'before' })
  await socket.received(2)
  replica.hold()
  const answer = send(world, 'in doubt')
  await untilListed(world, 2)
  replica.failure = 'the bucket is gone'
  replica.release()
  expect((await answer).status).toBe(503)
  expect(socket.messages).toHaveLength(2)
  replica.failure = null
  expect(await world.gateway.database.storage?.probeIfFailing()).toBe(false)
  expect((await socket.received(3))[2]).toMatchObject({ type: 'sms_status', status: 'queued' })
})
