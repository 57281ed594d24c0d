import { expect, test } from 'bun:test'
import { codes, SELF, startHarness } from './harness.ts'

test('a session ends at its own time where the administrator enforces one, and its tokens say when', async () => {
  await using harness = await startHarness()
  harness.control.configure({ sessionSeconds: 7200 })
  const first = await harness.login()
  expect(first).toMatchObject({ session_expires_in: 7200, session_expiration_time: '2026-11-21T04:30:00.000Z' })
  expect(first).not.toHaveProperty('session_idle_timeout')
  harness.clock.advance(3_000_000)
  const { status, body } = await harness.refresh(first.refresh_token)
  expect([status, body['session_expires_in']]).toEqual([200, 4200])
  harness.clock.advance(4_200_000)
  expect(codes(await harness.api(body.access_token, 'GET', SELF))).toEqual([401, 'OAU-213'])
  const late = await harness.refresh(body.refresh_token)
  expect([...codes(late), late.body.error]).toEqual([400, 'OAU-211', 'invalid_grant'])
})

test('a session that nobody uses ends where the administrator enforces that', async () => {
  await using harness = await startHarness()
  harness.control.configure({ sessionIdleSeconds: 600 })
  const { access_token, ...tokens } = await harness.login()
  expect(tokens).toMatchObject({ session_idle_timeout: 600 })
  expect(tokens).not.toHaveProperty('session_expires_in')
  harness.clock.advance(599_000)
  expect((await harness.api(access_token, 'GET', SELF)).status).toBe(200)
  harness.clock.advance(599_000)
  expect((await harness.api(access_token, 'GET', SELF)).status).toBe(200)
  harness.clock.advance(600_000)
  expect(codes(await harness.api(access_token, 'GET', SELF))).toEqual([401, 'OAU-213'])
})

test('without such a rule the tokens name no end of the session', async () => {
  await using harness = await startHarness()
  const names = Object.keys(await harness.login()).filter((name) => name.startsWith('session_'))
  expect(names).toEqual(['session_id'])
})

test.each([
  ['Frozen', 'OAU-236'],
  ['NotActivated', 'OAU-141'],
  ['Unassigned', 'OAU-141'],
] as const)('an extension that is %s may neither call nor refresh', async (status, code) => {
  await using harness = await startHarness()
  const tokens = await harness.login()
  harness.control.setExtensionStatus({ extensionId: harness.alice, status })
  expect(codes(await harness.api(tokens.access_token, 'GET', SELF))).toEqual([401, code])
  expect(codes(await harness.refresh(tokens.refresh_token))).toEqual([400, code])
})
