import { expect, test } from 'bun:test'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, FROM_2, TO, type World, createWorld } from '../../support/world.ts'

interface List {
  messages: Record<string, unknown>[]
  total: number
  page: number
  limit: number
}

const TO_2 = '+15555550198'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

async function list(world: World, query = '', key = world.key): Promise<List> {
  const response = await world.json<List>('GET', `/v1/sms/messages${query}`, { key })
  expect(response.status).toBe(200)
  return response.body
}

const bodies = ({ messages }: List): unknown[] => messages.map((message) => message['body'])

test('a listed message has the contract’s fields and no others', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const messageId = await world.send({ body: 'Hi', userId: 'user-1' })
  const { app, tenantId } = world
  const at = '2026-11-21T02:30:00.000Z'
  expect(await list(world)).toEqual({
    messages: [
      {
        messageId,
        jobId: expect.stringMatching(/^job_[0-9a-f]{16}$/),
        appId: app.appId,
        tenantId,
        userId: 'user-1',
        direction: 'outbound',
        to: TO,
        from: FROM,
        body: 'Hi',
        status: 'queued',
        rcMessageId: null,
        error: null,
        createdAt: at,
        updatedAt: at,
      },
    ],
    total: 1,
    page: 1,
    limit: 20,
  })
})

test('an inbound message is listed with its extension, without a user, and with a constant job id', async () => {
  await using world = await createWorld()
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi there' })
  const [message] = (await list(world)).messages
  expect(message).toMatchObject({
    direction: 'inbound',
    status: 'received',
    userId: null,
    appId: world.app.appId,
    receivingExtensionId: world.control.extensions()[0]?.extensionId ?? '',
  })
  expect(message?.['jobId']).toMatch(/^job_[0-9a-f]{16}$/)
})

test('the job id is shown after the job has been deleted', async () => {
  await using world = await createWorld()
  const messageId = await world.send()
  const before = (await list(world)).messages[0]?.['jobId']
  await world.untilStatus(messageId, ['sent'])
  expect((await list(world)).messages[0]?.['jobId']).toBe(before)
})

test('the list is newest first, and within a millisecond the last inserted is first', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  for (const body of ['1', '2', '3']) await world.send({ body })
  clock.advance(1)
  await world.send({ body: '4' })
  expect(bodies(await list(world))).toEqual(['4', '3', '2', '1'])
})

test('pages have no gap and no repetition', async () => {
  await using world = await quiet()
  for (const body of ['1', '2', '3', '4', '5']) await world.send({ body })
  expect(await list(world, '?limit=2&page=1')).toMatchObject({
    total: 5,
    page: 1,
    limit: 2,
    messages: [{ body: '5' }, { body: '4' }],
  })
  expect(bodies(await list(world, '?limit=2&page=2'))).toEqual(['3', '2'])
  expect(bodies(await list(world, '?limit=2&page=3'))).toEqual(['1'])
  expect(await list(world, '?limit=2&page=4')).toEqual({ messages: [], total: 5, page: 4, limit: 2 })
})

test('page and limit are clamped, never refused, and the answer shows the used values', async () => {
  await using world = await quiet()
  const cases = [
    ['page=0', 1, 20],
    ['page=-5', 1, 20],
    ['page=x', 1, 20],
    ['page=1.5', 1, 20],
    ['page=', 1, 20],
    ['page=%2B3', 3, 20],
    ['page=NaN', 1, 20],
    ['page=0x10', 1, 20],
    ['limit=0', 1, 1],
    ['limit=-1', 1, 1],
    ['limit=101', 1, 100],
    ['limit=100', 1, 100],
    ['limit=99999999999999999999', 1, 100],
    ['limit=1e2', 1, 20],
    ['limit=', 1, 20],
    ['limit=Infinity', 1, 20],
    ['limit=5&limit=7', 1, 7],
    ['limit[]=5', 1, 20],
    ['page=2&limit=3', 2, 3],
  ] as const
  for (const [query, page, limit] of cases)
    expect(await list(world, `?${query}`)).toEqual({ messages: [], total: 0, page, limit })
  expect((await list(world, '?page=99999999999999999999')).page).toBeGreaterThan(1000)
})

test('filters match the fields of messages and can be combined', async () => {
  await using world = await quiet()
  const second = await world.secondApp()
  await world.send({ body: '1', userId: 'u1' })
  await world.send({ body: '2', userId: 'u2', to: TO_2 })
  await world.send({ body: '3', userId: 'u1', from: FROM_2 }, { key: second.apiKey })
  const from = encodeURIComponent(FROM)
  expect(bodies(await list(world, '?userId=u1'))).toEqual(['3', '1'])
  expect(bodies(await list(world, `?from=${from}`))).toEqual(['2', '1'])
  expect(bodies(await list(world, `?to=${encodeURIComponent(TO_2)}`))).toEqual(['2'])
  expect(bodies(await list(world, `?appId=${second.appId}`))).toEqual(['3'])
  expect(bodies(await list(world, `?tenantId=${world.tenantId}`))).toEqual(['3', '2', '1'])
  expect(bodies(await list(world, `?userId=u1&from=${from}`))).toEqual(['1'])
  expect(bodies(await list(world, '?direction=outbound'))).toEqual(['3', '2', '1'])
  expect(await list(world, '?direction=inbound')).toMatchObject({ messages: [], total: 0 })
  expect(bodies(await list(world, '?status=queued'))).toEqual(['3', '2', '1'])
  expect(await list(world, '?status=sent')).toMatchObject({ messages: [], total: 0 })
})

test('an unescaped plus in a number is read as a plus', async () => {
  await using world = await quiet()
  await world.send({ body: '1' })
  await world.send({ body: '2', from: FROM_2, to: TO_2 })
  expect(bodies(await list(world, `?from=${FROM}`))).toEqual(['1'])
  expect(bodies(await list(world, `?to=${TO_2}`))).toEqual(['2'])
})

test('every app sees all messages of its tenant and none of other tenants', async () => {
  await using world = await quiet()
  const second = await world.secondApp()
  const other = await world.otherTenant()
  await world.send({ body: '1' })
  await world.send({ body: '2' }, { key: second.apiKey })
  await world.send({ body: 'theirs' }, { key: other.apiKey })
  expect(bodies(await list(world))).toEqual(['2', '1'])
  expect(bodies(await list(world, '', second.apiKey))).toEqual(['2', '1'])
  expect(bodies(await list(world, '', other.apiKey))).toEqual(['theirs'])
})

test('a filter by another tenant or its app finds nothing', async () => {
  await using world = await quiet()
  const other = await world.otherTenant()
  await world.send({ body: 'theirs' }, { key: other.apiKey })
  await world.send({ body: 'ours' })
  expect(bodies(await list(world, '?tenantId='))).toEqual(['ours'])
  const empty = { messages: [], total: 0, page: 1, limit: 20 }
  for (const query of [
    `tenantId=${other.tenantId}`,
    `appId=${other.appId}`,
    'tenantId=nonsense',
    'appId=nonsense',
    "appId=' OR 1=1 --",
    'userId=%00',
    'from=%00%ff',
  ]) {
    expect(await list(world, `?${query}`)).toEqual(empty)
  }
})

test('number and contact find a conversation in both directions, and nothing else', async () => {
  await using world = await quiet()
  const { gateway, tenantId } = world
  const store = (from: string, to: string, text: string): Promise<boolean> =>
    storeInbound(gateway, { tenantId, extensionId: '101', providerMessageId: text, from, to, text })
  await world.send({ from: FROM, to: TO, body: 'one' })
  await store(TO, FROM, 'two')
  await world.send({ from: FROM, to: TO_2, body: 'other contact' })
  await store(TO, FROM_2, 'other number')
  // A text between two own numbers belongs to each of them in its own direction.
  await world.send({ from: FROM_2, to: FROM, body: 'sent by us' })
  await store(FROM_2, FROM, 'received by us')
  const found = async (query: string): Promise<unknown[]> => {
    const answer = await list(world, query)
    expect(answer.total).toBe(answer.messages.length)
    return bodies(answer)
  }
  const [number, number2, contact] = [FROM, FROM_2, TO].map((each) => encodeURIComponent(each))
  expect(await found(`?number=${number}&contact=${contact}`)).toEqual(['two', 'one'])
  expect(await found(`?number=${number}`)).toEqual(['received by us', 'other contact', 'two', 'one'])
  expect(await found(`?contact=${contact}`)).toEqual(['other number', 'two', 'one'])
  expect(await found(`?number=${number}&contact=${number2}`)).toEqual(['received by us'])
  expect(await found(`?number=${number2}&contact=${number}`)).toEqual(['sent by us'])
  expect(await found(`?number=${number}&contact=${contact}&direction=inbound`)).toEqual(['two'])
  expect(await found(`?number=%20${FROM.slice(1)}&contact=+${TO.slice(1)}`)).toEqual(['two', 'one'])
  expect(await found('?number=&contact=')).toHaveLength(6)
})

test('a contact may be a short code or a sender’s name, of the own tenant alone', async () => {
  await using world = await quiet()
  const { gateway, tenantId } = world
  const other = await world.otherTenant()
  const store = (from: string, text: string, owner = tenantId): Promise<boolean> =>
    storeInbound(gateway, { tenantId: owner, extensionId: '101', providerMessageId: text, from, to: FROM, text })
  const longest = 'n'.repeat(64)
  await store('72975', 'code')
  await store('Pizza & Söhne', 'name')
  await store(longest, 'longest')
  await store('72975', 'theirs', other.tenantId)
  const { body } = await world.json<{ conversations: { contact: string }[] }>('GET', '/v1/conversations')
  expect(body.conversations.map(({ contact }) => contact)).toEqual([longest, 'Pizza & Söhne', '72975'])
  const found = async (contact: string): Promise<unknown[]> =>
    bodies(await list(world, `?number=${encodeURIComponent(FROM)}&contact=${encodeURIComponent(contact)}`))
  expect(await found('72975')).toEqual(['code'])
  expect(await found('Pizza & Söhne')).toEqual(['name'])
  expect(await found(longest)).toEqual(['longest'])
  for (const nobody of ['7297', '72975 ', 'pizza & söhne', "' OR 1=1 --", '%', '\0', '+0123456789'])
    expect(await found(nobody)).toEqual([])
})
