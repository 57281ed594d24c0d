import { expect, test } from 'bun:test'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { erase } from '../../../src/operator/erase.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, FROM_2, type World, createWorld } from '../../support/world.ts'

const DAY_MS = 24 * 3_600_000

let lastId = 0
const receive = (world: World, from: string, text = 'May I come later?', to = FROM): Promise<boolean> =>
  storeInbound(world.gateway, {
    tenantId: world.tenantId,
    extensionId: '1',
    providerMessageId: `answer-${++lastId}`,
    from,
    to,
    text,
  })

async function toAnswer(world: World, query = '', key = world.key): Promise<number> {
  const { body } = await world.json<{ toAnswer: number }>('GET', `/v1/conversations${query}`, { key })
  return body.toAnswer
}

const contact = (index: number): string => `+1555555${String(2000 + index)}`

test('a contact who wrote last waits for an answer, and no longer after one that waits itself', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await world.send({ to: contact(1) })
  expect(await toAnswer(world)).toBe(0)
  for (const index of [1, 2, 2, 3]) await receive(world, contact(index))
  expect(await toAnswer(world)).toBe(3)
  expect(await toAnswer(world, '?limit=1&page=3')).toBe(3)
  expect(await toAnswer(world, '?page=9')).toBe(3)
  await world.send({ to: contact(2), sendAt: new Date(Date.now() + DAY_MS).toISOString() })
  expect(await toAnswer(world)).toBe(2)
  await erase(world.gateway, { phone: contact(3) })
  expect(await toAnswer(world)).toBe(1)
})

test('what cannot be answered waits for no answer: short codes, names, and who has opted out', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const from of ['72345', '12345678', 'Pizza & Söhne', '+72345', '+0555555019', '+1555x5550199', '+1555555019٩'])
    await receive(world, from)
  await receive(world, `+1${'5'.repeat(15)}`)
  expect(await toAnswer(world)).toBe(0)
  for (const from of ['+155555501', `+1${'5'.repeat(14)}`, contact(1)]) await receive(world, from)
  expect(await toAnswer(world)).toBe(3)
  await receive(world, contact(1), 'STOP')
  expect(await toAnswer(world)).toBe(2)
  // The opt-out is of one number.
  await receive(world, contact(1), 'Are you there?', FROM_2)
  expect(await toAnswer(world)).toBe(3)
  await receive(world, contact(1), 'START')
  expect(await toAnswer(world)).toBe(4)
})

test('a conversation waits for seven days and not a millisecond longer', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  await receive(world, contact(1))
  clock.advance(DAY_MS)
  await receive(world, contact(2))
  clock.advance(6 * DAY_MS)
  expect(await toAnswer(world)).toBe(2)
  clock.advance(1)
  expect(await toAnswer(world)).toBe(1)
})

test('it counts all that the filters find, of the own tenant alone', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await receive(world, contact(1))
  await receive(world, contact(2))
  await receive(world, contact(2), 'Hello', FROM_2)
  const stranger = await world.otherTenant()
  expect(await toAnswer(world, '', stranger.apiKey)).toBe(0)
  const own = encodeURIComponent(FROM)
  const found = [
    '',
    `?number=${own}`,
    `?contact=%2B${contact(2).slice(1)}`,
    '?contactEndsWith=002',
    '?contactEndsWith=999',
  ]
  expect(await Promise.all(found.map((query) => toAnswer(world, query)))).toEqual([3, 2, 2, 2, 0])
})

test('with a full disk it counts what is stored, also what the list has not followed yet', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await receive(world, contact(1))
  expect(await toAnswer(world)).toBe(1)
  await receive(world, contact(2))
  const { writer } = world.gateway.database
  writer.write = () => Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
  expect(await toAnswer(world)).toBe(2)
})

test('it counts to 1,000', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const { gateway, tenantId, app } = world
  await gateway.database.gate.execute({
    sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
      INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      SELECT 'msg_' || i, 'job_1', ?1, ?2, 'inbound', printf('+1555777%05d', i), ?3, 'Hi', 'received', ?4, ?4 FROM n`,
    args: [tenantId, app.appId, FROM, clock.now()],
  })
  expect(await toAnswer(world)).toBe(1000)
  expect(await toAnswer(world, '?contactEndsWith=001')).toBe(2)
})
