import { expect, test } from 'bun:test'
import { answer, basic, codes, SELF, startHarness, type SimulatorHarness } from './harness.ts'

const present = (harness: SimulatorHarness, jwt: string) =>
  harness.token({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: jwt })

const refusal = ({ status, body }: Awaited<ReturnType<typeof present>>) => [status, body.error]

test('a JWT opens a session of its user, with tokens that are used and refreshed as any', async () => {
  await using harness = await startHarness()
  const { control, alice } = harness
  const { jwt } = control.addJwt({ extensionId: alice })
  const { status, body } = await present(harness, jwt)
  expect([status, body['owner_id'], body['expires_in']]).toEqual([200, alice, 3600])
  expect(body).toMatchObject({ refresh_token_expires_in: 604_800, token_type: 'bearer' })
  expect((await harness.api(body.access_token, 'GET', SELF)).body.id).toBe(Number(alice))
  const { body: refreshed } = await harness.refresh(body.refresh_token)
  expect((await harness.api(refreshed.access_token, 'GET', SELF)).status).toBe(200)
})

test('without the setting "Issue refresh tokens" the answer has none, and the JWT is presented again', async () => {
  await using harness = await startHarness()
  harness.control.configure({ issueRefreshTokens: false })
  const { jwt } = harness.control.addJwt({ extensionId: harness.alice })
  const { body } = await present(harness, jwt)
  expect(Object.keys(body).filter((name) => name.startsWith('refresh_token'))).toEqual([])
  harness.clock.advance(3_600_000)
  expect(codes(await harness.api(body.access_token, 'GET', SELF))).toEqual([401, 'OAU-128'])
  expect((await present(harness, jwt)).status).toBe(200)
})

test('a deleted, expired, foreign or mangled JWT is an invalid_grant, and its sessions go on', async () => {
  await using harness = await startHarness()
  const { control, alice, clock } = harness
  const { jwt } = control.addJwt({ extensionId: alice })
  const brief = control.addJwt({ extensionId: alice, expiresInSeconds: 60 }).jwt
  const foreign = control.addJwt({ extensionId: alice, clientId: 'another app' }).jwt
  const own = control.addJwt({ extensionId: alice, clientId: 'app' }).jwt
  const { access_token } = (await present(harness, jwt)).body
  expect((await present(harness, brief)).status).toBe(200)
  expect((await present(harness, own)).status).toBe(200)
  control.removeJwt({ jwt })
  expect(() => control.removeJwt({ jwt })).toThrow('Unknown JWT')
  clock.advance(60_000)
  for (const refused of [jwt, brief, foreign, jwt.slice(0, -1), 'x.y.z', ''])
    expect([refused, ...refusal(await present(harness, refused))]).toEqual([refused, 400, 'invalid_grant'])
  expect((await harness.api(access_token, 'GET', SELF)).status).toBe(200)
})

test('an app with another kind of authentication may not use the grant', async () => {
  await using harness = await startHarness()
  const { jwt } = harness.control.addJwt({ extensionId: harness.alice })
  harness.control.configure({ grants: ['authorization_code', 'refresh_token'] })
  const refused = await present(harness, jwt)
  expect([...refusal(refused), ...codes(refused)]).toEqual([400, 'unauthorized_client', 400, 'OAU-251'])
  harness.control.configure({ grants: ['jwt', 'refresh_token'] })
  expect((await present(harness, jwt)).status).toBe(200)
  const code = (await harness.authorize()).searchParams.get('code') ?? ''
  expect(codes(await harness.token({ grant_type: 'authorization_code', code }))).toEqual([400, 'OAU-251'])
})

test('JWTs, codes and refreshes of a user share five a minute, and each answer says what is left', async () => {
  await using harness = await startHarness()
  const { jwt } = harness.control.addJwt({ extensionId: harness.alice })
  const left: (string | null)[] = []
  for (let call = 0; call < 4; call++) left.push((await present(harness, jwt)).headers.get('x-rate-limit-remaining'))
  await harness.login()
  const { status, headers } = await present(harness, jwt)
  expect([...left, status, headers.get('retry-after')]).toEqual(['4', '3', '2', '1', 429, '60'])
  expect(headers.get('x-rate-limit-group')).toBe('auth')
})

test('the sixth session of a JWT ends the oldest without notice, and a disabled user opens none', async () => {
  await using harness = await startHarness({ limits: false })
  const { jwt } = harness.control.addJwt({ extensionId: harness.alice })
  const { access_token } = (await present(harness, jwt)).body
  for (let more = 0; more < 4; more++) await present(harness, jwt)
  expect((await harness.api(access_token, 'GET', SELF)).status).toBe(200)
  await present(harness, jwt)
  expect(codes(await harness.api(access_token, 'GET', SELF))).toEqual([401, 'OAU-213'])
  harness.control.setExtensionStatus({ extensionId: harness.alice, status: 'Disabled' })
  expect(codes(await present(harness, jwt))).toEqual([400, 'OAU-236'])
})

test('a restarted simulator makes the same JWTs again, which look like signed ones', async () => {
  const made: string[] = []
  for (let start = 0; start < 2; start++) {
    await using harness = await startHarness()
    made.push(harness.control.addJwt({ extensionId: harness.alice }).jwt)
    made.push(harness.control.addJwt({ extensionId: harness.alice, expiresInSeconds: 3600 }).jwt)
  }
  expect(made.slice(0, 2)).toEqual(made.slice(2))
  expect(new Set(made).size).toBe(2)
  const [, payload = ''] = (made[1] ?? '').split('.')
  const { sub, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string; exp: number }
  expect([sub, exp]).toEqual(['629890016', Date.parse('2026-11-21T03:30:00Z') / 1000])
})

test('no JWT stands in the recorded calls', async () => {
  await using harness = await startHarness()
  const { jwt } = harness.control.addJwt({ extensionId: harness.alice })
  await present(harness, jwt)
  await answer(
    fetch(`${harness.simulator.url}/restapi/oauth/token`, {
      method: 'POST',
      headers: { authorization: basic('app', 'secret') },
      body: new URLSearchParams({ grant_type: 'x', assertion: jwt }),
    }),
  )
  expect(harness.control.calls()).toHaveLength(2)
  expect(JSON.stringify(harness.control.calls())).not.toContain(jwt)
})
