import { expect, test } from 'bun:test'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { erase } from '../../../src/operator/erase.ts'
import { keepFollowing } from '../../../src/messages/upkeep/follow-conversations.ts'
import { purgeMessages } from '../../../src/messages/upkeep/purge-messages.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { writeManyMessages } from '../../support/many-messages.ts'
import { FROM, FROM_2, TO, type World, createWorld } from '../../support/world.ts'

interface Listed {
  number: string
  contact: string
  lastMessage: Record<string, unknown>
  optedOut: boolean
}
interface List {
  conversations: Listed[]
  toAnswer: number
  total: number
  page: number
  limit: number
}

const list = async (world: World, query = '', key = world.key): Promise<List> =>
  (await world.json<List>('GET', `/v1/conversations${query}`, { key })).body
const pairs = async (world: World, query = ''): Promise<string[]> =>
  (await list(world, query)).conversations.map(({ number, contact }) => `${number.at(-1)}-${contact.at(-1)}`)

let lastId = 0
const receive = (world: World, from: string, to = FROM, text = 'Hi'): Promise<boolean> =>
  storeInbound(world.gateway, {
    tenantId: world.tenantId,
    extensionId: '1',
    providerMessageId: String(++lastId),
    from,
    to,
    text,
  })

test('the list has one entry for each pair of numbers, with the newest message of either direction, by last activity', async () => {
  await using world = await createWorld({ connect: false, work: false })
  expect(await list(world)).toEqual({ conversations: [], toAnswer: 0, total: 0, page: 1, limit: 20 })
  await world.send({ to: '+15555550191', body: 'first' })
  await world.send({ to: '+15555550192' })
  await world.send({ to: '+15555550191', from: FROM_2 })
  expect(await pairs(world)).toEqual(['1-1', '0-2', '0-1'])
  await receive(world, '+15555550191', FROM, 'answer')
  expect(await pairs(world)).toEqual(['0-1', '1-1', '0-2'])
  const [newest] = (await world.json<{ messages: Record<string, unknown>[] }>('GET', '/v1/sms/messages')).body.messages
  expect((await list(world)).conversations[0]).toEqual({
    number: FROM,
    contact: '+15555550191',
    lastMessage: {
      messageId: newest?.['messageId'],
      direction: 'inbound',
      status: 'received',
      body: 'answer',
      createdAt: newest?.['createdAt'],
    },
    optedOut: false,
  })
})

test('pages and filters have exact totals, and other tenants see no entry', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (let index = 0; index < 5; index++) {
    await world.send({ to: `+1555555020${index}` })
    if (index < 2) await world.send({ to: `+1555555020${index}`, from: FROM_2 })
  }
  const stranger = await world.otherTenant()
  await world.send({ to: TO }, { key: stranger.apiKey })
  expect(await pairs(world)).toEqual(['0-4', '0-3', '0-2', '1-1', '0-1', '1-0', '0-0'])
  expect(await list(world, '?limit=2&page=2')).toMatchObject({ total: 7, page: 2, limit: 2 })
  expect(await pairs(world, '?limit=2&page=2')).toEqual(['0-2', '1-1'])
  expect(await list(world, '?page=99')).toEqual({ conversations: [], toAnswer: 0, total: 7, page: 99, limit: 20 })
  expect(await pairs(world, `?number=${FROM_2}`)).toEqual(['1-1', '1-0'])
  expect(await list(world, `?number=${FROM_2}&limit=1`)).toMatchObject({ total: 2 })
  expect(await pairs(world, '?contact=%2B15555550201')).toEqual(['1-1', '0-1'])
  expect(await list(world, `?contact=+15555550201&number=${encodeURIComponent(FROM)}`)).toMatchObject({ total: 1 })
  for (const query of [
    '?contact=x',
    '?number=%00',
    `?contact=${encodeURIComponent("' OR 1=1 --")}`,
    `?contact=${encodeURIComponent(TO)}`,
  ])
    expect(await list(world, query)).toMatchObject({ conversations: [], total: 0 })
  expect(await list(world, '', stranger.apiKey)).toMatchObject({ total: 1, conversations: [{ contact: TO }] })
})

test('an opt-out of the pair is shown, also one that was set by PUT', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await world.send({ to: '+15555550192' })
  await receive(world, TO, FROM, 'STOP')
  const optedOut = async () => (await list(world)).conversations.map((one) => one.optedOut)
  expect(await optedOut()).toEqual([true, false])
  await world.call('PUT', '/v1/opt-outs', { body: { number: FROM, contact: TO, optedOut: false } })
  expect(await optedOut()).toEqual([false, false])
})

test('an erased contact is gone from list and totals, also if the row numbers of its messages are reused', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await receive(world, '+15555550191')
  for (let index = 0; index < 3; index++) await receive(world, TO)
  expect(await list(world)).toMatchObject({ total: 2 })
  await erase(world.gateway, { phone: TO })
  expect(await pairs(world)).toEqual(['0-1'])
  for (const contact of ['+15555550192', '+15555550193']) await receive(world, contact)
  expect(await pairs(world)).toEqual(['0-3', '0-2', '0-1'])
  expect(await list(world)).toMatchObject({ total: 3 })
})

test('a conversation disappears when the retention deletes its newest message', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false, env: { MESSAGE_RETENTION_DAYS: '1' } })
  await receive(world, '+15555550191')
  await receive(world, '+15555550192')
  expect(await list(world)).toMatchObject({ total: 2 })
  clock.advance(20 * 3_600_000)
  await receive(world, '+15555550192')
  clock.advance(10 * 3_600_000)
  const purged = purgeMessages(world.gateway)
  const ticking = setInterval(() => clock.advance(20), 1)
  await purged
  clearInterval(ticking)
  expect(await pairs(world)).toEqual(['0-2'])
  expect(await list(world)).toMatchObject({ total: 1 })
})

test('nothing is written before the first request; then every answer equals plain SQL, also for simultaneous requests', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gateway, tenantId, app } = world
  const { gate } = gateway.database
  await writeManyMessages(gate, { count: 9000, since: 1.7e12, tenantId, appId: app.appId })
  await keepFollowing(gateway)
  expect((await gate.execute('SELECT 1 FROM conversation_activity LIMIT 1')).rows).toEqual([])
  const { rows } = await gate.execute(
    `SELECT count(DISTINCT iif(direction = 'outbound', to_number, from_number)) AS total FROM messages`,
  )
  const answers = await Promise.all([1, 2, 3].map(() => list(world, '?limit=100')))
  expect(answers.map(({ total }) => total)).toEqual(answers.map(() => Number(rows[0]?.['total'])))
  const newest = await gate.execute('SELECT id FROM messages ORDER BY seq DESC LIMIT 100')
  expect(answers[2]?.conversations.map(({ lastMessage }) => lastMessage['messageId'])).toEqual(
    newest.rows.map(({ id }) => id),
  )
  await receive(world, TO)
  await keepFollowing(gateway)
  expect((await gate.execute('SELECT contact FROM conversation_activity ORDER BY last_seq DESC LIMIT 1')).rows).toEqual(
    [{ contact: TO }],
  )
})

test('a page behind very many conversations is the same, and so is its total', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gateway, tenantId, app } = world
  const { gate } = gateway.database
  await gate.execute({
    sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      SELECT 'msg_' || i, 'job_1', ?1, ?2, 'outbound', ?3, printf('+1555777%05d', i), 'Hi', 'sent', i, i FROM n`,
    args: [tenantId, app.appId, FROM],
  })
  await list(world)
  for (const number of ['', `&number=${encodeURIComponent(FROM)}`]) {
    const { conversations, total } = await list(world, `?limit=100&page=112${number}`)
    expect([total, conversations.length, conversations[0]?.contact]).toEqual([12_000, 100, '+155577700900'])
    expect(await list(world, `?limit=100&page=121${number}`)).toMatchObject({ total: 12_000, conversations: [] })
  }
})

test('with a full disk the list is answered with everything that is stored, whether it was ever listed before or not', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { writer } = world.gateway.database
  const write = writer.write.bind(writer)
  const isFull = (): void =>
    void (writer.write = () =>
      Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })))
  const other = await world.otherTenant()
  const queries = [
    '',
    `?number=${encodeURIComponent(FROM)}`,
    '?contact=%2B15555550191',
    '?contactEndsWith=191',
    '?limit=1&page=2',
    '?page=9',
  ]
  const expectSameAnswers = async (): Promise<void> => {
    isFull()
    const answers = await Promise.all(queries.map((query) => world.call('GET', `/v1/conversations${query}`)))
    expect(answers.map(({ status }) => status)).toEqual(queries.map(() => 200))
    const onFullDisk = await Promise.all(answers.map((answer) => answer.json()))
    expect((await list(world, '', other.apiKey)).conversations).toEqual([])
    writer.write = write
    expect(onFullDisk).toEqual(await Promise.all(queries.map((query) => list(world, query))))
  }
  await world.send({ to: '+15555550191' })
  await world.send({ to: '+15555550192' })
  await expectSameAnswers()
  await world.send({ to: '+15555550191', from: FROM_2 })
  await receive(world, '+15555550192', FROM, 'answer')
  expect((await list(world)).total).toBe(3)
  await world.send({ to: '+15555550193' })
  await receive(world, '+15555550191', FROM, 'newest')
  await expectSameAnswers()
  expect(await pairs(world)).toEqual(['0-1', '0-3', '0-2', '1-1'])
})

test('with include=delivery an outbound newest message says what became of it, as the list of messages does', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  const sent = async (to: string, conclusion: string | null, sentAt = world.gateway.clock.now()): Promise<void> => {
    const id = await world.send({ to })
    const { rows } = await gate.execute({
      sql: `UPDATE messages SET status = 'sent', updated_at = ?2 WHERE id = ?1 RETURNING seq, tenant_id`,
      args: [id, sentAt],
    })
    await gate.execute({
      sql: `INSERT INTO delivery_states (message_seq, tenant_id, extension_id, sent_at, conclusion, error_code)
        VALUES (?1, ?2, '101', 1, ?3, iif(?3 = 'undelivered', 'SMS-CAR-430', NULL))`,
      args: [rows[0]?.['seq'] ?? null, rows[0]?.['tenant_id'] ?? null, conclusion],
    })
  }
  await sent('+15555550191', 'undelivered')
  await sent('+15555550192', 'delivered')
  await sent('+15555550193', null)
  await sent('+15555550194', null, 0)
  const cancelled = await world.send({ to: '+15555550195' })
  await world.call('DELETE', `/v1/sms/${cancelled}`)
  await world.send({ to: '+15555550196' })
  const { conversations } = await list(world, '?include=delivery')
  expect(conversations.map(({ contact, lastMessage }) => [contact.at(-1), lastMessage['deliveryStatus']])).toEqual([
    ['6', null],
    ['5', null],
    ['4', 'unknown'],
    ['3', 'pending'],
    ['2', 'delivered'],
    ['1', 'undelivered'],
  ])
  expect(conversations.map(({ lastMessage }) => lastMessage['error'])).toEqual([
    null,
    'Cancelled before sending',
    null,
    null,
    null,
    null,
  ])
  const { body } = await world.json<{ messages: Record<string, unknown>[] }>('GET', '/v1/sms/messages?include=delivery')
  expect(conversations.map(({ lastMessage }) => lastMessage['deliveryStatus'])).toEqual(
    body.messages.map(({ deliveryStatus }) => deliveryStatus),
  )
  const errors = body.messages.map(({ deliveryError }) => deliveryError ?? null)
  expect(conversations.map(({ lastMessage }) => lastMessage['deliveryError'] ?? null)).toEqual(errors)
  expect(conversations.filter(({ lastMessage }) => 'deliveryError' in lastMessage).length).toBe(1)
  expect(conversations.at(-1)?.lastMessage['deliveryError']).toEqual({ code: 'SMS-CAR-430', reason: 'Refused as spam' })
  expect(Object.keys((await list(world)).conversations[0]?.lastMessage ?? {})).toEqual([
    'messageId',
    'direction',
    'status',
    'body',
    'createdAt',
  ])
  const refused = await world.call('GET', '/v1/conversations?include=everything')
  expect([refused.status, await refused.json()]).toEqual([400, { error: 'Invalid include' }])
})
