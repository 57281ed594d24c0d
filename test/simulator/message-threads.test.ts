import { expect, test } from 'bun:test'
import { ALICE, BOB, codes, CUSTOMER, SELF, startHarness } from './harness.ts'
import { startWebhook } from './webhook.ts'

const QUEUE = '+16505550190'
const COMPANY = '+16505550191'
const THREADS = '/account/~/message-threads'
const FILTER = '/restapi/v1.0/account/~/message-threads/entries/sync'

/** Alice has a number of her own, and texts from the company's and for a queue. The account has Shared Inbox. */
async function startThreads() {
  const harness = await startHarness()
  const { control, alice } = harness
  control.addQueue({ name: 'Sales', numbers: [QUEUE], recipients: [alice] })
  control.addNumber({ extensionId: alice, phoneNumber: COMPANY, usageType: 'MainCompanyNumber' })
  control.configure({ messageThreads: true })
  const token = (await harness.login({ login_hint: alice })).access_token
  const get = (path: string, bearer = token) => harness.api(bearer, 'GET', path)
  const texts = async (path: string) => (await get(path)).body.records.map((one) => one['text'] ?? one['recordType'])
  const sync = async (query: string) => {
    const { body } = await get(`${THREADS}/entries/sync?${query}`)
    const { syncToken } = body['syncInfo'] as { syncToken: string }
    return { syncToken, entries: body.records.map((one) => one['text'] ?? one['recordType']) }
  }
  const text = (to: string, body: string, more = {}) => control.injectSms({ from: CUSTOMER, to, text: body, ...more })
  return {
    harness,
    control,
    alice,
    get,
    texts,
    sync,
    text,
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  }
}

test('texts to shared numbers go to threads and not to the message store, those to a number of one’s own as ever', async () => {
  await using world = await startThreads()
  for (const number of [QUEUE, COMPANY, ALICE]) await world.text(number, `to ${number}`)
  const stored = (await world.get(`${SELF}/message-store?owner=Any`)).body.records
  expect(stored.map(({ subject }) => subject)).toEqual([`to ${ALICE}`])
  expect(await world.texts(`${THREADS}/messages`)).toEqual([`to ${QUEUE}`, `to ${COMPANY}`])
  const threads = (await world.get(THREADS)).body.records
  expect(threads).toMatchObject([
    {
      status: 'Open',
      ownerParty: { phoneNumber: QUEUE },
      guestParty: { phoneNumber: CUSTOMER },
      owner: { name: 'Sales' },
    },
    { status: 'Open', ownerParty: { phoneNumber: COMPANY }, owner: { extensionId: world.alice } },
  ])
  expect((await world.get(`${THREADS}/${String(threads[0]?.['id'])}`)).body).toMatchObject(threads[0] ?? {})
})

test('a sync goes on where its token ends; a full one has the messages of open threads alone, and none without a scope', async () => {
  await using world = await startThreads()
  await world.text(QUEUE, 'one')
  const full = await world.sync('syncType=FSync&scope=Accessible')
  expect(full.entries).toEqual(['one'])
  expect((await world.sync('syncType=FSync')).entries).toEqual([])
  await world.text(QUEUE, 'two')
  world.control.resolveThreads()
  await world.text(QUEUE, 'three')
  const next = await world.sync(`syncType=ISync&syncToken=${full.syncToken}`)
  expect(next.entries).toEqual(['three', 'two'])
  expect((await world.sync(`syncType=ISync&syncToken=${next.syncToken}`)).entries).toEqual([])
  expect((await world.sync('syncType=FSync&scope=Accessible')).entries).toEqual(['three'])
  expect(await world.texts(`${THREADS}/messages`)).toEqual(['one', 'two', 'three'])
  expect(codes(await world.get(`${THREADS}/entries/sync?syncType=ISync&syncToken=x`))).toEqual([400, 'CMN-101'])
})

test('messages and threads are listed by their time, page by page; others do not see them', async () => {
  await using world = await startThreads()
  for (const body of ['one', 'two', 'three']) {
    await world.text(QUEUE, body)
    world.harness.clock.advance(60_000)
  }
  const at = (ms: number): string => new Date(world.harness.clock.now() - ms).toISOString()
  expect(await world.texts(`${THREADS}/messages?creationTimeFrom=${at(130_000)}&creationTimeTo=${at(70_000)}`)).toEqual(
    ['two'],
  )
  const second = (await world.get(`${THREADS}/messages?perPage=2&page=2`)).body
  expect([second.records.length, second['paging']]).toMatchObject([1, { page: 2, totalPages: 2 }])
  world.control.addExtension({ extensionId: '1', name: 'Bob', numbers: [BOB] })
  const bob = (await world.harness.login({ login_hint: '1' })).access_token
  expect((await world.get(`${THREADS}/messages`, bob)).body.records).toEqual([])
  const [thread] = (await world.get(THREADS)).body.records
  expect(codes(await world.get(`${THREADS}/${String(thread?.['id'])}`, bob))).toEqual([403, 'CMN-419'])
})

test('an event says that something has changed, and no instant one comes', async () => {
  await using world = await startThreads()
  await using webhook = startWebhook()
  const deliveryMode = { transportType: 'WebHook', address: webhook.url }
  const token = (await world.harness.login({ login_hint: world.alice })).access_token
  const eventFilters = [FILTER, `/restapi/v1.0${SELF}/message-store/instant?type=SMS`]
  const made = await world.harness.api(token, 'POST', '/subscription', { eventFilters, deliveryMode })
  expect([made.status, made.body['disabledFilters']]).toEqual([200, undefined])
  await world.text(QUEUE, 'one')
  expect(webhook.events()).toMatchObject([
    { event: '/restapi/v1.0/account/809640016/message-threads/entries/sync', ownerId: world.alice, body: {} },
  ])
})

test('a picture of a thread is at the address that its message names', async () => {
  await using world = await startThreads()
  const attachments = [{ contentType: 'image/png', data: btoa('a picture'), fileName: 'p.png' }]
  await world.text(QUEUE, 'look', { attachments })
  const [message] = (await world.get(`${THREADS}/messages`)).body.records
  const [picture] = (message?.['attachments'] ?? []) as { contentUri: string; filename: string }[]
  expect(picture?.filename).toBe('p.png')
  const path = (picture?.contentUri ?? '').split('/restapi/v1.0')[1] ?? ''
  expect((await world.get(path)).text).toBe('a picture')
})

test('an app that may not read threads, and an account without them, get a 403 and no events', async () => {
  await using world = await startThreads()
  await using webhook = startWebhook()
  world.control.configure({ readThreads: false })
  expect(codes(await world.get(`${THREADS}/messages`))).toEqual([403, 'CMN-401'])
  const token = (await world.harness.login({ login_hint: world.alice })).access_token
  const deliveryMode = { transportType: 'WebHook', address: webhook.url }
  const made = await world.harness.api(token, 'POST', '/subscription', { eventFilters: [FILTER], deliveryMode })
  expect(made.body['disabledFilters']).toMatchObject([{ reason: 'SUB-412' }])
  world.control.configure({ readThreads: true, messageThreads: false })
  expect(codes(await world.get(`${THREADS}/entries/sync`))).toEqual([403, 'CMN-407'])
  await world.text(QUEUE, 'to the store')
  expect((await world.get(`${SELF}/message-store?owner=Any`)).body.records).toMatchObject([{ subject: 'to the store' }])
})
