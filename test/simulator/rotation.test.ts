import { expect, test } from 'bun:test'
import { codes, SELF, startHarness, type SimulatorHarness } from './harness.ts'

const use = (harness: SimulatorHarness, token: string) => harness.api(token, 'GET', SELF)

test('a refresh invalidates the old access token: it is corrupted for ten seconds, then not found', async () => {
  await using harness = await startHarness()
  const old = await harness.login()
  await harness.refresh(old.refresh_token)
  expect(codes(await use(harness, old.access_token))).toEqual([401, 'OAU-129'])
  harness.clock.advance(9999)
  expect(codes(await use(harness, old.access_token))).toEqual([401, 'OAU-129'])
  harness.clock.advance(1)
  expect(codes(await use(harness, old.access_token))).toEqual([401, 'OAU-213'])
})

test('until the new access token is used, the old refresh token returns the same pair, even an hour later', async () => {
  await using harness = await startHarness()
  const old = await harness.login()
  const first = (await harness.refresh(old.refresh_token)).body
  harness.clock.advance(3_600_000)
  const second = (await harness.refresh(old.refresh_token)).body
  expect(second.access_token).toBe(first.access_token)
  expect(second.refresh_token).toBe(first.refresh_token)
  expect(first.refresh_token).not.toBe(old.refresh_token)
})

test('ten seconds after the first use of the new access token, the old refresh token is invalid', async () => {
  await using harness = await startHarness()
  const old = await harness.login()
  const pair = (await harness.refresh(old.refresh_token)).body
  expect((await use(harness, pair.access_token)).status).toBe(200)
  harness.clock.advance(9999)
  expect((await harness.refresh(old.refresh_token)).body.access_token).toBe(pair.access_token)
  harness.clock.advance(1)
  const refused = await harness.refresh(old.refresh_token)
  expect([refused.body.error, ...codes(refused)]).toEqual(['invalid_grant', 400, 'OAU-213'])
  expect((await use(harness, pair.access_token)).status).toBe(200)
})

test('reuse of an invalid refresh token does not end the session', async () => {
  await using harness = await startHarness()
  const old = await harness.login()
  const pair = (await harness.refresh(old.refresh_token)).body
  await use(harness, pair.access_token)
  harness.clock.advance(60_000)
  await harness.refresh(old.refresh_token)
  expect((await use(harness, pair.access_token)).status).toBe(200)
  expect((await harness.refresh(pair.refresh_token)).status).toBe(200)
})

test('tokens expire, and a refresh returns a refresh token for seven more days', async () => {
  await using harness = await startHarness()
  const first = await harness.login()
  harness.clock.advance(3_600_000)
  expect(codes(await use(harness, first.access_token))).toEqual([401, 'OAU-128'])
  harness.clock.advance(6 * 86_400_000)
  const second = (await harness.refresh(first.refresh_token)).body
  harness.clock.advance(6 * 86_400_000)
  const third = await harness.refresh(second.refresh_token)
  expect(third.status).toBe(200)
  harness.clock.advance(7 * 86_400_000)
  expect(codes(await harness.refresh(third.body.refresh_token))).toEqual([400, 'OAU-210'])
})

test('the sixth session ends the first one without notice and keeps the others', async () => {
  await using harness = await startHarness({ limits: false })
  const sessions = []
  for (let count = 0; count < 6; count++) sessions.push(await harness.login())
  expect(codes(await use(harness, sessions[0]?.access_token ?? ''))).toEqual([401, 'OAU-213'])
  expect((await harness.refresh(sessions[0]?.refresh_token ?? '')).body.error).toBe('invalid_grant')
  for (const session of sessions.slice(1)) expect((await use(harness, session.access_token)).status).toBe(200)
  expect(harness.control.sessions({ extensionId: harness.alice })).toHaveLength(5)
})

test('the control API expires and revokes tokens', async () => {
  await using harness = await startHarness()
  const tokens = await harness.login()
  harness.control.expireTokens({ extensionId: harness.alice })
  expect(codes(await use(harness, tokens.access_token))).toEqual([401, 'OAU-128'])
  const pair = (await harness.refresh(tokens.refresh_token)).body
  expect(harness.control.revokeTokens({ extensionId: harness.alice })).toEqual({ ended: 1 })
  expect(codes(await use(harness, pair.access_token))).toEqual([401, 'OAU-213'])
  expect(codes(await harness.refresh(pair.refresh_token))).toEqual([400, 'OAU-211'])
})
