import { expect, test } from 'bun:test'
import { codes, SELF, startBench, type Bench } from './harness.ts'

const use = (bench: Bench, token: string) => bench.api(token, 'GET', SELF)

test('a refresh invalidates the old access token: it is corrupted for ten seconds, then not found', async () => {
  await using bench = await startBench()
  const old = await bench.login()
  await bench.refresh(old.refresh_token)
  expect(codes(await use(bench, old.access_token))).toEqual([401, 'OAU-129'])
  bench.clock.advance(9999)
  expect(codes(await use(bench, old.access_token))).toEqual([401, 'OAU-129'])
  bench.clock.advance(1)
  expect(codes(await use(bench, old.access_token))).toEqual([401, 'OAU-213'])
})

test('until the new access token is used, the old refresh token returns the same pair, even an hour later', async () => {
  await using bench = await startBench()
  const old = await bench.login()
  const first = (await bench.refresh(old.refresh_token)).body
  bench.clock.advance(3_600_000)
  const second = (await bench.refresh(old.refresh_token)).body
  expect(second.access_token).toBe(first.access_token)
  expect(second.refresh_token).toBe(first.refresh_token)
  expect(first.refresh_token).not.toBe(old.refresh_token)
})

test('ten seconds after the first use of the new access token, the old refresh token is invalid', async () => {
  await using bench = await startBench()
  const old = await bench.login()
  const pair = (await bench.refresh(old.refresh_token)).body
  expect((await use(bench, pair.access_token)).status).toBe(200)
  bench.clock.advance(9999)
  expect((await bench.refresh(old.refresh_token)).body.access_token).toBe(pair.access_token)
  bench.clock.advance(1)
  const refused = await bench.refresh(old.refresh_token)
  expect([refused.body.error, ...codes(refused)]).toEqual(['invalid_grant', 400, 'OAU-213'])
  expect((await use(bench, pair.access_token)).status).toBe(200)
})

test('reuse of an invalid refresh token does not end the session', async () => {
  await using bench = await startBench()
  const old = await bench.login()
  const pair = (await bench.refresh(old.refresh_token)).body
  await use(bench, pair.access_token)
  bench.clock.advance(60_000)
  await bench.refresh(old.refresh_token)
  expect((await use(bench, pair.access_token)).status).toBe(200)
  expect((await bench.refresh(pair.refresh_token)).status).toBe(200)
})

test('tokens expire, and a refresh returns a refresh token for seven more days', async () => {
  await using bench = await startBench()
  const first = await bench.login()
  bench.clock.advance(3_600_000)
  expect(codes(await use(bench, first.access_token))).toEqual([401, 'OAU-128'])
  bench.clock.advance(6 * 86_400_000)
  const second = (await bench.refresh(first.refresh_token)).body
  bench.clock.advance(6 * 86_400_000)
  const third = await bench.refresh(second.refresh_token)
  expect(third.status).toBe(200)
  bench.clock.advance(7 * 86_400_000)
  expect(codes(await bench.refresh(third.body.refresh_token))).toEqual([400, 'OAU-210'])
})

test('the sixth session ends the first one without notice and keeps the others', async () => {
  await using bench = await startBench({ limits: false })
  const sessions = []
  for (let count = 0; count < 6; count++) sessions.push(await bench.login())
  expect(codes(await use(bench, sessions[0]?.access_token ?? ''))).toEqual([401, 'OAU-213'])
  expect((await bench.refresh(sessions[0]?.refresh_token ?? '')).body.error).toBe('invalid_grant')
  for (const session of sessions.slice(1)) expect((await use(bench, session.access_token)).status).toBe(200)
  expect(bench.control.sessions({ extensionId: bench.alice })).toHaveLength(5)
})

test('the control API expires and revokes tokens', async () => {
  await using bench = await startBench()
  const tokens = await bench.login()
  bench.control.expireTokens({ extensionId: bench.alice })
  expect(codes(await use(bench, tokens.access_token))).toEqual([401, 'OAU-128'])
  const pair = (await bench.refresh(tokens.refresh_token)).body
  expect(bench.control.revokeTokens({ extensionId: bench.alice })).toEqual({ ended: 1 })
  expect(codes(await use(bench, pair.access_token))).toEqual([401, 'OAU-213'])
  expect(codes(await bench.refresh(pair.refresh_token))).toEqual([400, 'OAU-211'])
})
