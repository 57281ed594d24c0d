import { expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { HeldReplica } from '../support/held-replica.ts'
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
