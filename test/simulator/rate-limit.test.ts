import { expect, test } from 'bun:test'
import { ALICE, BOB, codes, SELF, smsBody, startHarness } from './harness.ts'

test('the 41st SMS within a minute is answered with 429 in the recorded form and is not sent', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const first = await harness.sms(access_token)
  expect(limitHeaders(first.headers)).toEqual(['medium', '40', '39', '60'])
  for (let count = 1; count < 40; count++) await harness.sms(access_token)
  const refused = await harness.sms(access_token)
  expect(codes(refused)).toEqual([429, 'CMN-301'])
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(refused.headers.get('www-authenticate')).toContain('CMN-301')
  expect(limitHeaders(refused.headers)).toEqual(['medium', '40', '0', '60'])
  expect(harness.control.messages()).toHaveLength(40)
})

test('every request during the penalty restarts it', async () => {
  await using harness = await startHarness()
  harness.control.setLimits({ medium: 1 })
  const { access_token } = await harness.login()
  const status = async () => (await harness.sms(access_token)).status
  expect([await status(), await status()]).toEqual([200, 429])
  harness.clock.advance(59_999)
  expect(await status()).toBe(429)
  harness.clock.advance(59_999)
  expect(await status()).toBe(429)
  harness.clock.advance(60_000)
  expect(await status()).toBe(200)
})

test('the window slides: a request leaves it after 60 seconds', async () => {
  await using harness = await startHarness()
  harness.control.setLimits({ medium: 2 })
  const { access_token } = await harness.login()
  await harness.sms(access_token)
  harness.clock.advance(30_000)
  await harness.sms(access_token)
  harness.clock.advance(30_000)
  expect((await harness.sms(access_token)).status).toBe(200)
  expect((await harness.sms(access_token)).status).toBe(429)
})

test('groups and extensions have separate limits', async () => {
  await using harness = await startHarness()
  const bob = harness.control.addExtension({ numbers: [BOB] }).extensionId
  harness.control.setLimits({ medium: 1 })
  const alice = await harness.login()
  const other = await harness.login({ login_hint: bob })
  await harness.sms(alice.access_token)
  expect((await harness.sms(alice.access_token)).status).toBe(429)
  expect((await harness.api(alice.access_token, 'GET', SELF)).headers.get('x-rate-limit-group')).toBe('light')
  expect((await harness.api(other.access_token, 'POST', `${SELF}/sms`, smsBody('Hi', ALICE, BOB))).status).toBe(200)
})

test('token calls belong to the group Auth, with five per minute and extension', async () => {
  await using harness = await startHarness()
  let { refresh_token } = await harness.login()
  for (let count = 1; count < 5; count++) refresh_token = (await harness.refresh(refresh_token)).body.refresh_token
  const refused = await harness.refresh(refresh_token)
  expect([...codes(refused), refused.headers.get('x-rate-limit-group')]).toEqual([429, 'CMN-301', 'auth'])
  harness.clock.advance(60_000)
  expect((await harness.refresh(refresh_token)).status).toBe(200)
})

test('limits can be switched off', async () => {
  await using harness = await startHarness({ limits: false })
  const { access_token } = await harness.login()
  const all = await Promise.all(Array.from({ length: 60 }, () => harness.sms(access_token)))
  expect(all.every((one) => one.status === 200)).toBe(true)
  expect(all[0]?.headers.has('x-rate-limit-group')).toBe(false)
})

const limitHeaders = (headers: Headers) =>
  ['group', 'limit', 'remaining', 'window'].map((name) => headers.get(`x-rate-limit-${name}`))
