import { expect, test } from 'bun:test'
import { ALICE, BOB, codes, CUSTOMER, SELF, startHarness, type SimulatorHarness } from './harness.ts'

const subjects = async (harness: SimulatorHarness, token: string, query = '') =>
  (await harness.api(token, 'GET', `${SELF}/message-store${query}`)).body.records.map((one) => one['subject'])

test('the list is newest first and filtered by direction, type and number', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  await harness.sms(access_token, 'one')
  harness.clock.advance(1)
  await harness.sms(access_token, 'two', '+16505550124')
  harness.clock.advance(1)
  await harness.control.injectSms({ to: ALICE, text: 'three' })
  expect(await subjects(harness, access_token)).toEqual(['three', 'two', 'one'])
  expect(await subjects(harness, access_token, '?messageType=SMS&direction=Outbound')).toEqual(['two', 'one'])
  expect(await subjects(harness, access_token, '?direction=Inbound&direction=Outbound')).toHaveLength(3)
  expect(await subjects(harness, access_token, '?messageType=Fax')).toEqual([])
  expect(await subjects(harness, access_token, `?phoneNumber=${encodeURIComponent(CUSTOMER)}`)).toEqual([
    'three',
    'one',
  ])
})

test('dateFrom and dateTo bound the creation time, and the default is the last 24 hours', async () => {
  await using harness = await startHarness()
  let { access_token } = await harness.login()
  const start = harness.clock.now()
  await harness.sms(access_token, 'old')
  harness.clock.advance(86_400_001)
  access_token = (await harness.login()).access_token
  await harness.sms(access_token, 'new')
  expect(await subjects(harness, access_token)).toEqual(['new'])
  const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString())
  expect(await subjects(harness, access_token, `?dateFrom=${at(start)}`)).toEqual(['new', 'old'])
  expect(await subjects(harness, access_token, `?dateFrom=${at(start)}&dateTo=${at(start + 1)}`)).toEqual(['old'])
  expect(await subjects(harness, access_token, `?dateFrom=${at(start + 1)}`)).toEqual(['new'])
})

test('pages have a nextPage until the last one', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  for (let at = 0; at < 5; at++) await harness.sms(access_token, `text ${at}`)
  const page = async (number: number) =>
    (await harness.api(access_token, 'GET', `${SELF}/message-store?perPage=2&page=${number}`)).body
  const [first, last] = [await page(1), await page(3)]
  expect(first['paging']).toEqual({ page: 1, totalPages: 3, perPage: 2, totalElements: 5, pageStart: 0, pageEnd: 1 })
  expect(first['navigation']).toHaveProperty('nextPage')
  expect(last.records).toHaveLength(1)
  expect(last['navigation']).not.toHaveProperty('nextPage')
})

test('records have the extension id as text, and an extension never sees the messages of another one', async () => {
  await using harness = await startHarness()
  const bob = harness.control.addExtension({ numbers: [BOB] }).extensionId
  const alice = await harness.login()
  const other = await harness.login({ login_hint: bob })
  const { id } = (await harness.sms(alice.access_token, 'mine')).body
  const list = await harness.api(alice.access_token, 'GET', `${SELF}/message-store`)
  expect(list.body.records[0]).toMatchObject({ id, extensionId: harness.alice, segmentCount: 1 })
  expect(await subjects(harness, other.access_token)).toEqual([])
  const foreign = await harness.api(other.access_token, 'GET', `${SELF}/message-store/${id}`)
  expect(codes(foreign)).toEqual([404, 'CMN-102'])
  expect(foreign.body['message']).toBe('Resource for parameter [messageId] is not found')
})

test('the error of a bad filter names it', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const refused = await harness.api(access_token, 'GET', `${SELF}/message-store?direction=Sideways`)
  expect(refused.body.errors[0]).toMatchObject({
    errorCode: 'CMN-101',
    message: 'Parameter [direction] value is invalid.',
  })
  expect((await harness.api(access_token, 'GET', `${SELF}/message-store?dateFrom=yesterday`)).status).toBe(400)
})

test('a message appears in lists only after the indexing delay', async () => {
  await using harness = await startHarness()
  harness.control.configure({ indexDelayMs: 2000 })
  const { access_token } = await harness.login()
  const { id } = (await harness.sms(access_token, 'slow')).body
  expect(await subjects(harness, access_token)).toEqual([])
  expect((await harness.api(access_token, 'GET', `${SELF}/message-store/${id}`)).status).toBe(200)
  harness.clock.advance(2000)
  expect(await subjects(harness, access_token)).toEqual(['slow'])
})

test('more than 1000 a page counts as 1000, and 0 gives an empty page', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  await harness.sms(access_token, 'one')
  const list = async (query: string) => (await harness.api(access_token, 'GET', `${SELF}/message-store?${query}`)).body
  expect((await list('perPage=2000'))['paging']).toMatchObject({ page: 1, perPage: 1000, totalElements: 1 })
  const empty = await list('perPage=0')
  expect([empty.records, empty['paging']]).toEqual([[], { perPage: 0, totalPages: 1, totalElements: 1 }])
})

test('distinctConversations lists the newest message of each conversation', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  await harness.sms(access_token, 'first')
  await harness.sms(access_token, 'other', '+16505550124')
  await harness.control.injectSms({ from: CUSTOMER, to: ALICE, text: 'answer' })
  expect(await subjects(harness, access_token, '?distinctConversations=true')).toEqual(['answer', 'other'])
})

test('a delivered message says when it was delivered', async () => {
  await using harness = await startHarness()
  harness.control.configure({ deliveredAfterMs: 5000 })
  const { access_token } = await harness.login()
  const { id } = (await harness.sms(access_token)).body
  const record = async () => (await harness.api(access_token, 'GET', `${SELF}/message-store/${id}`)).body
  expect(await record()).not.toHaveProperty('smsDeliveryTime')
  harness.clock.advance(5000)
  expect(await record()).toMatchObject({ messageStatus: 'Delivered', smsDeliveryTime: '2026-11-21T02:30:05.000Z' })
})
