import { expect, test } from 'bun:test'
import { answer, basic, BOB, challengeOf, codes, REDIRECT, SELF, startBench } from './harness.ts'

const exchange = (code: string | null, redirect = REDIRECT) => ({
  grant_type: 'authorization_code',
  code: code ?? '',
  redirect_uri: redirect,
})

test('authorize redirects the browser at once with a code, the state and its lifetime of 60 seconds', async () => {
  await using bench = await startBench()
  const back = await bench.authorize()
  expect(back.origin + back.pathname).toBe(REDIRECT)
  expect(back.searchParams.get('state')).toBe('s 1')
  expect(back.searchParams.get('expires_in')).toBe('60')
  expect(back.searchParams.get('code')?.length).toBeGreaterThan(200)
})

test('the control API, then login_hint, then the first extension decides the login', async () => {
  await using bench = await startBench()
  const bob = bench.control.addExtension({ name: 'Bob', numbers: [BOB] }).extensionId
  const owner = async (query = {}) => {
    const { access_token } = await bench.login(query)
    return String((await bench.api(access_token, 'GET', SELF)).body.id)
  }
  expect(await owner()).toBe(bench.alice)
  expect(await owner({ login_hint: bob })).toBe(bob)
  bench.control.nextLogin({ extensionId: bob })
  expect(await owner()).toBe(bob)
  expect(await owner()).toBe(bench.alice)
})

test('a denied login redirects with access_denied and a doubly encoded description', async () => {
  await using bench = await startBench()
  bench.control.denyNextLogin()
  const back = await bench.authorize()
  expect(back.searchParams.get('error')).toBe('access_denied')
  expect(back.searchParams.get('error_description')).toBe('The+user+denied+access+to+your+application')
  expect(back.searchParams.get('state')).toBe('s 1')
  expect(back.searchParams.has('code')).toBe(false)
  expect((await bench.authorize()).searchParams.has('code')).toBe(true)
})

test('the login page lists the extensions with escaped names, and its buttons approve or deny', async () => {
  await using bench = await startBench()
  bench.control.configure({ loginPage: true })
  bench.control.addExtension({ name: '<b>Mallory</b>' })
  const query = { response_type: 'code', client_id: 'app', redirect_uri: REDIRECT, state: '"><script>' }
  const page = await answer(fetch(`${bench.simulator.url}/restapi/oauth/authorize?${new URLSearchParams(query)}`))
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(page.text).toContain('Alice Smith')
  expect(page.text).not.toContain('<b>Mallory')
  expect(page.text).not.toContain('<script>')
  expect((await bench.authorize({ approve: bench.alice })).searchParams.has('code')).toBe(true)
  expect((await bench.authorize({ approve: 'deny' })).searchParams.get('error')).toBe('access_denied')
})

test('an unknown client or an unregistered redirect URI is refused without a redirect', async () => {
  await using bench = await startBench()
  bench.control.configure({ redirectUris: [REDIRECT] })
  expect((await bench.authorize({ client_id: 'other' })).href).toStartWith('error:400')
  expect((await bench.authorize({ redirect_uri: `${REDIRECT}/` })).href).toStartWith('error:400')
  expect((await bench.authorize()).searchParams.has('code')).toBe(true)
})

test('a code works once', async () => {
  await using bench = await startBench()
  const code = (await bench.authorize()).searchParams.get('code')
  const first = await bench.token(exchange(code))
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({
    token_type: 'bearer',
    expires_in: 3600,
    refresh_token_expires_in: 604_800,
    owner_id: bench.alice,
  })
  const second = await bench.token(exchange(code))
  expect(second.body.error).toBe('invalid_grant')
  expect(codes(second)).toEqual([400, 'OAU-106'])
})

test('a code expires after 60 seconds', async () => {
  await using bench = await startBench()
  const [early, late] = [await bench.authorize(), await bench.authorize()].map((url) => url.searchParams.get('code'))
  bench.clock.advance(59_999)
  expect((await bench.token(exchange(early ?? null))).status).toBe(200)
  bench.clock.advance(1)
  expect(codes(await bench.token(exchange(late ?? null)))).toEqual([400, 'OAU-108'])
})

test('a redirect URI that differs from the authorize request is refused', async () => {
  await using bench = await startBench()
  const code = (await bench.authorize()).searchParams.get('code')
  const refused = await bench.token(exchange(code, `${REDIRECT}?x=1`))
  expect(refused.body.error).toBe('invalid_grant')
  expect(codes(refused)).toEqual([400, 'OAU-109'])
})

test('a PKCE challenge requires its verifier', async () => {
  await using bench = await startBench()
  const verifier = 'a-verifier-of-at-least-forty-three-characters-xyz'
  const query = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const code = (await bench.authorize(query)).searchParams.get('code')
  expect((await bench.token(exchange(code))).status).toBe(400)
  expect((await bench.token({ ...exchange(code), code_verifier: `${verifier}x` })).status).toBe(400)
  expect((await bench.token({ ...exchange(code), code_verifier: verifier })).status).toBe(200)
})

test('the client must authenticate with Basic and send a form', async () => {
  await using bench = await startBench()
  const form = { grant_type: 'refresh_token', refresh_token: 'x' }
  const unknown = await bench.token(form, { authorization: basic('other', 'secret') })
  expect([unknown.body.error, ...codes(unknown)]).toEqual(['invalid_client', 400, 'OAU-153'])
  expect(codes(await bench.token(form, { authorization: '' }))).toEqual([400, 'OAU-153'])
  expect(codes(await bench.token(form, { authorization: basic('app', 'wrong') }))).toEqual([401, 'OAU-146'])
  expect((await bench.token(form, { 'content-type': 'application/json' })).status).toBe(415)
  expect(codes(await bench.token({ grant_type: 'password' }))).toEqual([400, 'OAU-250'])
})

test('revoking either token ends the session', async () => {
  await using bench = await startBench()
  const tokens = await bench.login()
  const revoked = await fetch(`${bench.simulator.url}/restapi/oauth/revoke`, {
    method: 'POST',
    headers: { authorization: basic('app', 'secret'), 'content-type': 'application/x-www-form-urlencoded' },
    body: `token=${tokens.refresh_token}`,
  })
  expect([revoked.status, await revoked.text(), revoked.headers.get('content-length')]).toEqual([200, '', '0'])
  expect(codes(await bench.api(tokens.access_token, 'GET', SELF))).toEqual([401, 'OAU-213'])
  expect(codes(await bench.refresh(tokens.refresh_token))).toEqual([400, 'OAU-211'])
})

test('the form sets token lifetimes within their bounds', async () => {
  await using bench = await startBench()
  const lifetimes = async (ttl: Record<string, string>) => {
    const code = (await bench.authorize()).searchParams.get('code')
    const { expires_in, refresh_token_expires_in } = (await bench.token({ ...exchange(code), ...ttl })).body
    return [expires_in, refresh_token_expires_in]
  }
  expect(await lifetimes({ access_token_ttl: '60', refresh_token_ttl: '3600' })).toEqual([600, 3600])
  expect(await lifetimes({ access_token_ttl: '99999', refresh_token_ttl: '99999999' })).toEqual([3600, 604_800])
})

test('a disabled and a deleted extension can neither call nor refresh, with different errors', async () => {
  await using bench = await startBench()
  const tokens = await bench.login()
  bench.control.setExtensionStatus({ extensionId: bench.alice, status: 'Disabled' })
  expect((await bench.sms(tokens.access_token)).status).toBe(401)
  const refused = await bench.refresh(tokens.refresh_token)
  expect([refused.body.error, ...codes(refused)]).toEqual(['invalid_grant', 400, 'OAU-236'])
  bench.control.setExtensionStatus({ extensionId: bench.alice, status: 'Deleted' })
  expect(codes(await bench.sms(tokens.access_token))).toEqual([401, 'CMN-405'])
  expect(codes(await bench.refresh(tokens.refresh_token))).toEqual([400, 'OAU-232'])
  bench.control.setExtensionStatus({ extensionId: bench.alice, status: 'Enabled' })
  expect((await bench.refresh(tokens.refresh_token)).status).toBe(200)
  expect(bench.control.messages()).toEqual([])
})
