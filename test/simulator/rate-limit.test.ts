import { expect, test } from 'bun:test'
import { ALICE, BOB, codes, SELF, smsBody, startBench } from './harness.ts'

test('the 41st SMS within a minute is answered with 429 in the recorded form and is not sent', async () => {
  await using bench = await startBench()
  const { access_token } = await bench.login()
  const first = await bench.sms(access_token)
  expect(limitHeaders(first.headers)).toEqual(['medium', '40', '39', '60'])
  for (let count = 1; count < 40; count++) await bench.sms(access_token)
  const refused = await bench.sms(access_token)
  expect(codes(refused)).toEqual([429, 'CMN-301'])
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(refused.headers.get('www-authenticate')).toContain('CMN-301')
  expect(limitHeaders(refused.headers)).toEqual(['medium', '40', '0', '60'])
  expect(bench.control.messages()).toHaveLength(40)
})

test('every request during the penalty restarts it', async () => {
  await using bench = await startBench()
  bench.control.setLimits({ medium: 1 })
  const { access_token } = await bench.login()
  const status = async () => (await bench.sms(access_token)).status
  expect([await status(), await status()]).toEqual([200, 429])
  bench.clock.advance(59_999)
  expect(await status()).toBe(429)
  bench.clock.advance(59_999)
  expect(await status()).toBe(429)
  bench.clock.advance(60_000)
  expect(await status()).toBe(200)
})

test('the window slides: a request leaves it after 60 seconds', async () => {
  await using bench = await startBench()
  bench.control.setLimits({ medium: 2 })
  const { access_token } = await bench.login()
  await bench.sms(access_token)
  bench.clock.advance(30_000)
  await bench.sms(access_token)
  bench.clock.advance(30_000)
  expect((await bench.sms(access_token)).status).toBe(200)
  expect((await bench.sms(access_token)).status).toBe(429)
})

test('groups and extensions have separate limits', async () => {
  await using bench = await startBench()
  const bob = bench.control.addExtension({ numbers: [BOB] }).extensionId
  bench.control.setLimits({ medium: 1 })
  const alice = await bench.login()
  const other = await bench.login({ login_hint: bob })
  await bench.sms(alice.access_token)
  expect((await bench.sms(alice.access_token)).status).toBe(429)
  expect((await bench.api(alice.access_token, 'GET', SELF)).headers.get('x-rate-limit-group')).toBe('light')
  expect((await bench.api(other.access_token, 'POST', `${SELF}/sms`, smsBody('Hi', ALICE, BOB))).status).toBe(200)
})

test('token calls belong to the group Auth, with five per minute and extension', async () => {
  await using bench = await startBench()
  let { refresh_token } = await bench.login()
  for (let count = 1; count < 5; count++) refresh_token = (await bench.refresh(refresh_token)).body.refresh_token
  const refused = await bench.refresh(refresh_token)
  expect([...codes(refused), refused.headers.get('x-rate-limit-group')]).toEqual([429, 'CMN-301', 'auth'])
  bench.clock.advance(60_000)
  expect((await bench.refresh(refresh_token)).status).toBe(200)
})

test('limits can be switched off', async () => {
  await using bench = await startBench({ limits: false })
  const { access_token } = await bench.login()
  const all = await Promise.all(Array.from({ length: 60 }, () => bench.sms(access_token)))
  expect(all.every((one) => one.status === 200)).toBe(true)
  expect(all[0]?.headers.has('x-rate-limit-group')).toBe(false)
})

const limitHeaders = (headers: Headers) =>
  ['group', 'limit', 'remaining', 'window'].map((name) => headers.get(`x-rate-limit-${name}`))
