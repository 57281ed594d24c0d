import { expect, spyOn, test } from 'bun:test'
import { ALICE, answer, BOB, codes, CUSTOMER, SELF, smsBody, startHarness } from './harness.ts'

test('an accepted SMS is answered with 200, a numeric id and Queued, and becomes Sent on the clock', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const sent = await harness.sms(access_token, 'Hello')
  expect(sent.status).toBe(200)
  expect(sent.body).toMatchObject({
    type: 'SMS',
    direction: 'Outbound',
    messageStatus: 'Queued',
    subject: 'Hello',
    from: { phoneNumber: ALICE },
    to: [{ phoneNumber: CUSTOMER }],
    creationTime: '2026-11-21T02:30:00.000Z',
  })
  expect(sent.body).not.toHaveProperty('extensionId')
  expect(Number.isSafeInteger(sent.body.id)).toBe(true)
  const status = async () =>
    (await harness.api(access_token, 'GET', `${SELF}/message-store/${sent.body.id}`)).body['messageStatus']
  harness.clock.advance(999)
  expect(await status()).toBe('Queued')
  harness.clock.advance(1)
  expect(await status()).toBe('Sent')
})

test('an answer that takes long says Queued, although the message has failed meanwhile', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.configure({ sentAfterMs: 5, deliveredAfterMs: 5 })
  harness.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
  let now = harness.clock.now()
  using _now = spyOn(harness.clock, 'now').mockImplementation(() => (now += 5))
  const { body } = await harness.sms(access_token)
  expect(body).toMatchObject({ messageStatus: 'Queued' })
  expect(body).not.toHaveProperty('deliveryErrorCode')
  const stored = await harness.api(access_token, 'GET', `${SELF}/message-store/${body.id}`)
  expect(stored.body).toMatchObject({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
})

test('the conversation id is a raw number above 2^53, and text in `conversation`', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const { text, body } = await harness.sms(access_token)
  const { id } = body['conversation'] as { id: string }
  expect(text).toContain(`"conversationId":${id},`)
  expect(BigInt(id)).toBeGreaterThan(2n ** 53n)
  expect(String(body['conversationId'])).not.toBe(id)
})

test('message ids grow with time, so that a restarted simulator does not repeat them', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const first = (await harness.sms(access_token)).body.id
  await Bun.sleep(2)
  await using later = await startHarness()
  const second = (await later.sms((await later.login()).access_token)).body.id
  expect(second).toBeGreaterThan(first)
})

const REFUSED: [string, unknown, number, string, string | null][] = [
  ['a missing from', { to: [{ phoneNumber: CUSTOMER }], text: 'x' }, 400, 'CMN-101', 'from'],
  ['a missing to', { from: { phoneNumber: ALICE }, text: 'x' }, 400, 'CMN-101', 'to'],
  ['a bad to', smsBody('x', 'abc'), 400, 'CMN-101', 'to'],
  ['a to without a number', { ...smsBody('x'), to: [{}] }, 400, 'CMN-101', 'to.phoneNumber'],
  ['an extension number', smsBody('x', '102'), 400, 'MSG-246', null],
  ['a short number', smsBody('x', '123456'), 400, 'MSG-247', null],
  [
    'the same number twice',
    { ...smsBody('x'), to: [{ phoneNumber: CUSTOMER }, { phoneNumber: CUSTOMER }] },
    400,
    'CMN-406',
    null,
  ],
  [
    'eleven recipients',
    { ...smsBody('x'), to: Array.from({ length: 11 }, (_, at) => ({ phoneNumber: `+165055502${10 + at}` })) },
    400,
    'MSG-381',
    null,
  ],
  ['an empty text', smsBody(''), 400, 'CMN-101', 'text'],
  ['a text of 1001 units', smsBody('x'.repeat(1001)), 400, 'CMN-101', 'text'],
  ['501 emoji', smsBody('😀'.repeat(501)), 400, 'CMN-101', 'text'],
  ["another extension's number", smsBody('x', CUSTOMER, BOB), 403, 'MSG-304', null],
  ['an unknown number', smsBody('x', CUSTOMER, '+16505559999'), 400, 'MSG-245', null],
  ['an own number without SMS', smsBody('x', CUSTOMER, '+18445550188'), 403, 'MSG-367', null],
  ['a JSON array', [], 400, 'CMN-104', null],
  ['a body with a status of its own', { status: 200, ...smsBody('') }, 400, 'CMN-101', 'text'],
]

test.each(REFUSED)('an SMS with %s is refused and not stored', async (_, body, status, code, parameter) => {
  await using harness = await startHarness()
  harness.control.addExtension({ numbers: [BOB] })
  harness.control.addNumber({ extensionId: harness.alice, phoneNumber: '+18445550188', features: ['CallerId'] })
  const { access_token } = await harness.login()
  const refused = await harness.api(access_token, 'POST', `${SELF}/sms`, body)
  expect(codes(refused)).toEqual([status, code])
  if (parameter !== null) expect(refused.body.errors[0]?.parameterName).toBe(parameter)
  expect(harness.control.messages()).toEqual([])
})

test('recorded refusals of the platform have exactly the recorded form', async () => {
  await using harness = await startHarness()
  harness.control.addExtension({ numbers: [BOB] })
  const { access_token } = await harness.login()
  const foreign = await harness.api(access_token, 'POST', `${SELF}/sms`, smsBody('x', CUSTOMER, BOB))
  expect(JSON.parse(foreign.text)).toEqual({
    errorCode: 'FeatureNotAvailable',
    message: "Phone number doesn't belong to extension",
    errors: [{ errorCode: 'MSG-304', message: "Phone number doesn't belong to extension" }],
  })
  const short = await harness.api(access_token, 'POST', `${SELF}/sms`, smsBody('x', '123456'))
  expect(JSON.parse(short.text)).toEqual({
    errorCode: 'InvalidParameter',
    message: 'Sending SMS to short numbers is not available',
    errors: [{ errorCode: 'MSG-247', message: 'Sending SMS to short numbers is not available' }],
  })
})

test('a text of 1000 units is accepted', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  expect((await harness.sms(access_token, '😀'.repeat(500))).status).toBe(200)
})

test.each([
  ['no JSON', '{"from":', 'CMN-103'],
  ['nothing', '', 'CMN-103'],
  ['no JSON object', '"text"', 'CMN-104'],
])('a body that is %s is answered with 400 and its own code, for messages and subscriptions', async (_, body, code) => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  for (const path of [`${SELF}/sms`, '/subscription'])
    expect(
      codes(await answer(fetch(`${harness.simulator.url}/restapi/v1.0${path}`, { method: 'POST', headers, body }))),
    ).toEqual([400, code])
})

test('any other content type is answered with 415', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'text/plain' }
  const sent = await fetch(`${harness.simulator.url}/restapi/v1.0${SELF}/sms`, { method: 'POST', headers, body: '{}' })
  expect(sent.status).toBe(415)
})

test('a planned failure is shown in the store with its delivery error code', async () => {
  await using harness = await startHarness()
  harness.control.planNextSms({ messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-CAR-430' })
  const { access_token } = await harness.login()
  const { id } = (await harness.sms(access_token)).body
  harness.clock.advance(1000)
  const record = (await harness.api(access_token, 'GET', `${SELF}/message-store/${id}`)).body
  expect(record).toMatchObject({ messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-CAR-430' })
  const next = (await harness.sms(access_token)).body.id
  harness.clock.advance(1000)
  expect((await harness.api(access_token, 'GET', `${SELF}/message-store/${next}`)).body['messageStatus']).toBe('Sent')
})

test('messages become Delivered after deliveredAfterMs', async () => {
  await using harness = await startHarness()
  harness.control.configure({ deliveredAfterMs: 3000 })
  const { access_token } = await harness.login()
  await harness.sms(access_token)
  const status = () => harness.control.messages()[0]?.messageStatus
  const seen = [status()]
  for (const ms of [1000, 2000]) {
    harness.clock.advance(ms)
    seen.push(status())
  }
  expect(seen).toEqual(['Queued', 'Sent', 'Delivered'])
})
