import { expect, test } from 'bun:test'
import { answer, basic, BOB, challengeOf, codes, REDIRECT, SELF, startHarness } from './harness.ts'

const exchange = (code: string | null, redirect = REDIRECT) => ({
  grant_type: 'authorization_code',
  code: code ?? '',
  redirect_uri: redirect,
})

test('authorize redirects the browser at once with a code, the state and its lifetime of 60 seconds', async () => {
  await using harness = await startHarness()
  const back = await harness.authorize()
  expect(back.origin + back.pathname).toBe(REDIRECT)
  expect(back.searchParams.get('state')).toBe('s 1')
  expect(back.searchParams.get('expires_in')).toBe('60')
  expect(back.searchParams.get('code')?.length).toBeGreaterThan(200)
})

test('the control API, then login_hint, then the first extension decides the login', async () => {
  await using harness = await startHarness()
  const bob = harness.control.addExtension({ name: 'Bob', numbers: [BOB] }).extensionId
  const owner = async (query = {}) => {
    const { access_token } = await harness.login(query)
    return String((await harness.api(access_token, 'GET', SELF)).body.id)
  }
  expect(await owner()).toBe(harness.alice)
  expect(await owner({ login_hint: bob })).toBe(bob)
  harness.control.nextLogin({ extensionId: bob })
  expect(await owner()).toBe(bob)
  expect(await owner()).toBe(harness.alice)
})

test('a denied login redirects with access_denied and a doubly encoded description', async () => {
  await using harness = await startHarness()
  harness.control.denyNextLogin()
  const back = await harness.authorize()
  expect(back.searchParams.get('error')).toBe('access_denied')
  expect(back.searchParams.get('error_description')).toBe('The+user+denied+access+to+your+application')
  expect(back.searchParams.get('state')).toBe('s 1')
  expect(back.searchParams.has('code')).toBe(false)
  expect((await harness.authorize()).searchParams.has('code')).toBe(true)
})

test('the login page lists the extensions with escaped names, and its buttons approve or deny', async () => {
  await using harness = await startHarness()
  harness.control.configure({ loginPage: true })
  harness.control.addExtension({ name: '<b>Mallory</b>' })
  const query = { response_type: 'code', client_id: 'app', redirect_uri: REDIRECT, state: '"><script>' }
  const page = await answer(fetch(`${harness.simulator.url}/restapi/oauth/authorize?${new URLSearchParams(query)}`))
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(page.text).toContain('Alice Smith')
  expect(page.text).not.toContain('<b>Mallory')
  expect(page.text).not.toContain('<script>')
  expect((await harness.authorize({ approve: harness.alice })).searchParams.has('code')).toBe(true)
  expect((await harness.authorize({ approve: 'deny' })).searchParams.get('error')).toBe('access_denied')
})

test('an unknown client or an unregistered redirect URI is refused without a redirect', async () => {
  await using harness = await startHarness()
  harness.control.configure({ redirectUris: [REDIRECT] })
  expect((await harness.authorize({ client_id: 'other' })).href).toStartWith('error:400')
  expect((await harness.authorize({ redirect_uri: `${REDIRECT}/` })).href).toStartWith('error:400')
  expect((await harness.authorize()).searchParams.has('code')).toBe(true)
})

test('a code works once', async () => {
  await using harness = await startHarness()
  const code = (await harness.authorize()).searchParams.get('code')
  const first = await harness.token(exchange(code))
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({
    token_type: 'bearer',
    expires_in: 3600,
    refresh_token_expires_in: 604_800,
    owner_id: harness.alice,
  })
  const second = await harness.token(exchange(code))
  expect(second.body.error).toBe('invalid_grant')
  expect(codes(second)).toEqual([400, 'OAU-106'])
})

test('a code expires after 60 seconds', async () => {
  await using harness = await startHarness()
  const [early, late] = [await harness.authorize(), await harness.authorize()].map((url) =>
    url.searchParams.get('code'),
  )
  harness.clock.advance(59_999)
  expect((await harness.token(exchange(early ?? null))).status).toBe(200)
  harness.clock.advance(1)
  expect(codes(await harness.token(exchange(late ?? null)))).toEqual([400, 'OAU-108'])
})

test('a redirect URI that differs from the authorize request is refused', async () => {
  await using harness = await startHarness()
  const code = (await harness.authorize()).searchParams.get('code')
  const refused = await harness.token(exchange(code, `${REDIRECT}?x=1`))
  expect(refused.body.error).toBe('invalid_grant')
  expect(codes(refused)).toEqual([400, 'OAU-109'])
})

test('a PKCE challenge requires its verifier', async () => {
  await using harness = await startHarness()
  const verifier = 'a-verifier-of-at-least-forty-three-characters-xyz'
  const query = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const code = (await harness.authorize(query)).searchParams.get('code')
  expect((await harness.token(exchange(code))).status).toBe(400)
  expect((await harness.token({ ...exchange(code), code_verifier: `${verifier}x` })).status).toBe(400)
  expect((await harness.token({ ...exchange(code), code_verifier: verifier })).status).toBe(200)
})

test('the client must authenticate with Basic and send a form', async () => {
  await using harness = await startHarness()
  const form = { grant_type: 'refresh_token', refresh_token: 'x' }
  const unknown = await harness.token(form, { authorization: basic('other', 'secret') })
  expect([unknown.body.error, ...codes(unknown)]).toEqual(['invalid_client', 400, 'OAU-153'])
  expect(codes(await harness.token(form, { authorization: '' }))).toEqual([400, 'OAU-153'])
  expect(codes(await harness.token(form, { authorization: basic('app', 'wrong') }))).toEqual([401, 'OAU-146'])
  expect((await harness.token(form, { 'content-type': 'application/json' })).status).toBe(415)
  expect(codes(await harness.token({ grant_type: 'password' }))).toEqual([400, 'OAU-250'])
})

test('revoking either token ends the session', async () => {
  await using harness = await startHarness()
  const tokens = await harness.login()
  const revoked = await fetch(`${harness.simulator.url}/restapi/oauth/revoke`, {
    method: 'POST',
    headers: { authorization: basic('app', 'secret'), 'content-type': 'application/x-www-form-urlencoded' },
    body: `token=${tokens.refresh_token}`,
  })
  expect([revoked.status, await revoked.text(), revoked.headers.get('content-length')]).toEqual([200, '', '0'])
  expect(codes(await harness.api(tokens.access_token, 'GET', SELF))).toEqual([401, 'OAU-213'])
  expect(codes(await harness.refresh(tokens.refresh_token))).toEqual([400, 'OAU-211'])
})

test('the form sets token lifetimes within their bounds', async () => {
  await using harness = await startHarness()
  const lifetimes = async (ttl: Record<string, string>) => {
    const code = (await harness.authorize()).searchParams.get('code')
    const { expires_in, refresh_token_expires_in } = (await harness.token({ ...exchange(code), ...ttl })).body
    return [expires_in, refresh_token_expires_in]
  }
  expect(await lifetimes({ access_token_ttl: '60', refresh_token_ttl: '3600' })).toEqual([600, 3600])
  expect(await lifetimes({ access_token_ttl: '99999', refresh_token_ttl: '99999999' })).toEqual([3600, 604_800])
})

test('a disabled and a deleted extension can neither call nor refresh, with different errors', async () => {
  await using harness = await startHarness()
  const tokens = await harness.login()
  harness.control.setExtensionStatus({ extensionId: harness.alice, status: 'Disabled' })
  expect((await harness.sms(tokens.access_token)).status).toBe(401)
  const refused = await harness.refresh(tokens.refresh_token)
  expect([refused.body.error, ...codes(refused)]).toEqual(['invalid_grant', 400, 'OAU-236'])
  harness.control.setExtensionStatus({ extensionId: harness.alice, status: 'Deleted' })
  expect(codes(await harness.sms(tokens.access_token))).toEqual([401, 'CMN-405'])
  expect(codes(await harness.refresh(tokens.refresh_token))).toEqual([400, 'OAU-232'])
  harness.control.setExtensionStatus({ extensionId: harness.alice, status: 'Enabled' })
  expect((await harness.refresh(tokens.refresh_token)).status).toBe(200)
  expect(harness.control.messages()).toEqual([])
})
