import { expect, test } from 'bun:test'
import type { NewConsent } from '../../src/core/provider-changes.ts'
import { ALICE, CUSTOMER, SELF, codes, smsBody, startHarness } from './harness.ts'
import { startWebhook } from './webhook.ts'

const OTHER = '+16505550124'
const SECOND = '+16505550103'
const SEARCH = '/restapi/v2/accounts/~/sms/consents/search'

async function startScene(consents: 'shown' | 'refused' | 'absent' = 'shown') {
  const harness = await startHarness()
  harness.control.configure({ consents })
  harness.control.addNumber({ extensionId: harness.alice, phoneNumber: SECOND, features: ['SmsSender'] })
  const { access_token: token } = await harness.login()
  return {
    ...harness,
    access: token,
    search: (body: unknown = {}) => harness.api(token, 'POST', `/../..${SEARCH}`, body),
    async isDelivered(to = CUSTOMER, from = ALICE) {
      const sent = await harness.api(token, 'POST', `${SELF}/sms`, smsBody('x', to, from))
      harness.clock.advance(1000)
      const { body } = await harness.api(token, 'GET', `${SELF}/message-store/${sent.body.id}`)
      return body['messageStatus'] === 'Sent'
    },
  }
}

test('every coverage and source is listed, in pages, and filtered', async () => {
  await using scene = await startScene()
  const { control, clock } = scene
  const wanted: NewConsent[] = [
    { from: ALICE, to: CUSTOMER, source: 'Recipient' },
    { from: ALICE, to: OTHER, coverage: 'Account', source: 'Carrier' },
    { from: SECOND, to: OTHER, optStatus: 'OptIn', source: 'Upstream' },
    { to: CUSTOMER, coverage: 'CampaignType', campaignType: 'Promotional', source: 'Api' },
  ]
  for (const one of wanted) {
    clock.advance(1000)
    control.addConsent(one)
  }
  const { body } = await scene.search()
  expect(body.records).toMatchObject(
    wanted.toReversed().map((one) => ({ coverage: 'PhoneNumber', optStatus: 'OptOut', ...one })),
  )
  const out = await scene.search({ optStatus: 'OptOut', perPage: 2 })
  const { paging } = out.body as unknown as { paging: { nextPageToken: string } }
  expect(out.body.records.map(({ source }) => source)).toEqual(['Api', 'Carrier'])
  const rest = await scene.search({ optStatus: 'OptOut', perPage: 2, pageToken: paging.nextPageToken })
  expect(rest.body.records.map(({ source }) => source)).toEqual(['Recipient'])
  expect(rest.body['paging']).not.toHaveProperty('nextPageToken')
  for (const [filter, count] of [
    [{ to: [OTHER] }, 2],
    [{ from: [SECOND] }, 1],
    [{ coverage: ['Account', 'CampaignType'] }, 2],
    [{ campaignType: ['Informational'] }, 0],
  ] as const)
    expect([filter, (await scene.search(filter)).body.records.length]).toEqual([filter, count])
})

test('an account may have none, or not give them to the app, and wrong members are refused', async () => {
  await using scene = await startScene('absent')
  expect(codes(await scene.search())).toEqual([404, 'CMN-102'])
  scene.control.configure({ consents: 'refused' })
  expect(codes(await scene.search())).toEqual([403, 'CMN-401'])
  scene.control.configure({ consents: 'shown' })
  for (const wrong of [{ optStatus: 'Out' }, { coverage: [] }, { to: 'x' }, { perPage: 0 }, { pageToken: 'x' }])
    expect([wrong, codes(await scene.search(wrong))]).toEqual([wrong, [400, 'CMN-101']])
})

test('STOP makes a consent of the recipient, which START replaces', async () => {
  await using scene = await startScene()
  const records = async () => (await scene.search()).body.records
  await scene.control.injectSms({ from: CUSTOMER, to: ALICE, text: 'STOP' })
  const one = { from: ALICE, to: CUSTOMER, coverage: 'PhoneNumber', source: 'Recipient' }
  expect(await records()).toMatchObject([{ ...one, optStatus: 'OptOut' }])
  await scene.control.injectSms({ from: CUSTOMER, to: ALICE, text: 'START' })
  expect(await records()).toMatchObject([{ ...one, optStatus: 'OptIn' }])
})

test('messages against a consent are not delivered: the later of that of the number and that of the account counts', async () => {
  await using scene = await startScene()
  const { control, clock } = scene
  control.addConsent({ from: ALICE, to: CUSTOMER, coverage: 'Account' })
  expect(await scene.isDelivered(CUSTOMER, SECOND)).toBe(false)
  expect(await scene.isDelivered(OTHER, SECOND)).toBe(true)
  clock.advance(1000)
  control.addConsent({ from: SECOND, to: CUSTOMER, optStatus: 'OptIn' })
  expect([await scene.isDelivered(CUSTOMER, SECOND), await scene.isDelivered()]).toEqual([true, false])
  // Which campaign a message belongs to is not simulated.
  control.addConsent({ to: OTHER, coverage: 'CampaignType', campaignType: 'Promotional' })
  expect(await scene.isDelivered(OTHER)).toBe(true)
})

test('subscribers of the account are told of each change', async () => {
  await using scene = await startScene()
  await using webhook = startWebhook()
  const deliveryMode = { transportType: 'WebHook', address: webhook.url }
  const eventFilters = ['/restapi/v2/accounts/~/sms/consents']
  const made = await scene.api(scene.access, 'POST', '/subscription', { eventFilters, deliveryMode })
  expect(made.body['eventFilters']).toEqual(['/restapi/v2/accounts/809640016/sms/consents'])
  const other = scene.control.addAccount({ accountId: '5' }).accountId
  scene.control.addConsent({ from: ALICE, to: CUSTOMER })
  scene.control.addConsent({ from: ALICE, to: CUSTOMER, accountId: other })
  await scene.control.settled()
  expect(scene.control.counters()).toMatchObject({ eventsDelivered: 1 })
  const foreign = await scene.api(scene.access, 'POST', '/subscription', {
    eventFilters: ['/restapi/v2/accounts/5/sms/consents'],
    deliveryMode,
  })
  expect(codes(foreign)).toEqual([403, 'SUB-406'])
  scene.control.configure({ consents: 'refused' })
  const refused = await scene.api(scene.access, 'POST', '/subscription', { eventFilters, deliveryMode })
  expect(refused.body['disabledFilters']).toHaveLength(1)
})

test('what makes no consent is named', async () => {
  await using scene = await startScene()
  const add = scene.control.addConsent as (consent: object) => unknown
  expect(() => add({ to: CUSTOMER })).toThrow('Cannot use from: ')
  expect(() => add({ to: CUSTOMER, from: ALICE, coverage: 'Everything' })).toThrow('Cannot use coverage: ')
  expect(() => add({ to: '123', from: ALICE })).toThrow('Cannot use to: ')
})
