import { describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type SignedIn, newLogin, operate, signIn } from '../support/operator.ts'
import { ask } from '../support/raw-http.ts'
import { type World, createWorld, recordedLog } from '../support/world.ts'

const quiet = { connect: false, work: false }
const SESSION = '/v1/operator/session'

const signInWith = (world: World, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  world.call('POST', SESSION, { key: null, body, headers })

const status = (world: World, token: string): Promise<Response> =>
  world.call('GET', '/v1/operator/status', { key: token })

describe('a link', () => {
  test('leads to the console, with the login in the fragment', async () => {
    await using world = await createWorld({ ...quiet, clock: manualClock() })
    const { status: code, body } = await operate(world, 'POST', '/v1/operator/links')
    expect({ code, body }).toEqual({
      code: 201,
      body: {
        url: expect.stringMatching(/^http:\/\/localhost:\d+\/console\/#login=sgwlogin_[\w-]{43}$/),
        expiresAt: new Date(world.gateway.clock.now() + 600_000).toISOString(),
      },
    })
  })

  test('opens one session for twelve hours', async () => {
    const clock = manualClock()
    await using world = await createWorld({ ...quiet, clock })
    const session = await signIn(world)
    expect(session).toEqual({
      sessionId: expect.stringMatching(/^ses_[0-9a-f]{16}$/),
      token: expect.stringMatching(/^sgw_op_[\w-]{43}$/),
      expiresAt: new Date(clock.now() + 12 * 3_600_000).toISOString(),
    })
    expect((await status(world, session.token)).status).toBe(200)
    clock.advance(12 * 3_600_000 - 1)
    expect((await status(world, session.token)).status).toBe(200)
    clock.advance(1)
    await expectError(await status(world, session.token), 401, 'Invalid API key')
  })

  test('opens nothing when it is used a second time, also by twenty at once', async () => {
    await using world = await createWorld(quiet)
    const login = await newLogin(world)
    const answers = await Promise.all(Array.from({ length: 20 }, () => signInWith(world, { login })))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    const { rows } = await world.gateway.database.gate.execute('SELECT * FROM operator_sessions')
    expect(rows).toHaveLength(1)
  })

  test('opens nothing after ten minutes', async () => {
    const clock = manualClock()
    await using world = await createWorld({ ...quiet, clock })
    const login = await newLogin(world)
    clock.advance(600_000)
    await expectError(await signInWith(world, { login }), 401, 'Invalid or expired login')
  })

  test('that was printed at the start opens any number of sessions from this machine, until --revoke', async () => {
    await using world = await createWorld(quiet)
    const login = world.gateway.operatorSessions.createDevelopmentLogin()
    for (let times = 0; times < 3; times++) expect((await signInWith(world, { login })).status).toBe(200)
    for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host'])
      await expectError(await signInWith(world, { login }, { [header]: '127.0.0.1' }), 401, 'Invalid or expired login')
    expect((await operate(world, 'DELETE', '/v1/operator/sessions')).body).toEqual({ revoked: 4 })
    await expectError(await signInWith(world, { login }), 401, 'Invalid or expired login')
  })

  test('and a token are stored as hashes only', async () => {
    await using world = await createWorld(quiet)
    const unused = await newLogin(world)
    const { token } = await signIn(world)
    const { gate } = world.gateway.database
    const rows = [
      ...(await gate.execute('SELECT * FROM operator_sessions')).rows,
      ...(await gate.execute('SELECT * FROM operator_links')).rows,
    ]
    expect(rows).toHaveLength(2)
    const stored = JSON.stringify(rows)
    for (const secret of [unused, token]) expect(stored).not.toContain(secret.slice(-43))
  })
})

describe('a session', () => {
  test('survives a restart', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    await world.running.stop()
    await using again = await createWorld({ ...quiet, folder: world.folder })
    expect((await status(again, token)).status).toBe(200)
  })

  test('ends with a restore from a backup, which may be older than its end', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    const login = await newLogin(world)
    await world.running.stop()
    // A database without its mark counts as restored from a copy.
    rmSync(`${world.folder}/sgw.db.mark`)
    await using again = await createWorld({ ...quiet, folder: world.folder })
    await expectError(await status(again, token), 401, 'Invalid API key')
    await expectError(await signInWith(again, { login }), 401, 'Invalid or expired login')
  })

  test('ends when its operator signs out; others stay', async () => {
    await using world = await createWorld(quiet)
    const [mine, other] = [await signIn(world), await signIn(world)]
    expect(await world.json('DELETE', SESSION, { key: mine.token })).toEqual({ status: 200, body: { ok: true } })
    await expectError(await status(world, mine.token), 401, 'Invalid API key')
    expect((await status(world, other.token)).status).toBe(200)
  })

  test('ends with --revoke, which counts live sessions and links', async () => {
    await using world = await createWorld(quiet)
    const [ended, live] = [await signIn(world), await signIn(world)]
    await world.call('DELETE', SESSION, { key: ended.token })
    const login = await newLogin(world)
    expect((await status(world, live.token)).status).toBe(200)
    expect(await operate(world, 'DELETE', '/v1/operator/sessions')).toEqual({ status: 200, body: { revoked: 2 } })
    await expectError(await status(world, live.token), 401, 'Invalid API key')
    await expectError(await signInWith(world, { login }), 401, 'Invalid or expired login')
    expect((await operate(world, 'DELETE', '/v1/operator/sessions')).body).toEqual({ revoked: 0 })
  })

  test('that has ended does not block the address of a page that still asks', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    await operate(world, 'DELETE', '/v1/operator/sessions')
    for (let times = 0; times < 30; times++) expect((await status(world, token)).status).toBe(401)
    expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  })

  test('takes neither its token nor its id from the request', async () => {
    await using world = await createWorld(quiet)
    const token = `sgw_op_${'A'.repeat(43)}`
    const answer = await signInWith(world, { login: await newLogin(world), token, sessionId: 'ses_0000000000000000' })
    const session = (await answer.json()) as SignedIn
    expect(session.token).not.toBe(token)
    expect(session.sessionId).not.toBe('ses_0000000000000000')
    await expectError(await status(world, token), 401, 'Invalid API key')
  })

  test('has 600 requests a minute of its own', async () => {
    await using world = await createWorld({ ...quiet, clock: manualClock(), env: { KEY_LIMIT_PER_MINUTE: '3' } })
    const [mine, other] = [await signIn(world), await signIn(world)]
    const headers = { 'sgw-app': world.app.appId }
    for (let times = 0; times < 599; times++)
      expect((await world.call('GET', '/v1/me', { key: mine.token, headers })).status).toBe(200)
    const last = await world.call('GET', '/v1/me', { key: mine.token, headers })
    expect(last.headers.get('ratelimit-policy')).toBe('"key";q=600;w=60')
    await expectError(await world.call('GET', '/v1/me', { key: mine.token, headers }), 429, 'Too many requests')
    expect((await status(world, other.token)).status).toBe(200)
    expect((await world.call('GET', '/v1/me')).status).toBe(200)
  })
})

describe('guessing', () => {
  test('logins counts as failed attempts: the address is blocked, also for a good link', async () => {
    await using world = await createWorld(quiet)
    const login = await newLogin(world)
    for (let times = 0; times < 10; times++)
      await expectError(
        await signInWith(world, { login: `sgwlogin_${'A'.repeat(43)}` }),
        401,
        'Invalid or expired login',
      )
    const blocked = await signInWith(world, { login })
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    await expectError(blocked, 429, 'Too many requests')
  })

  test('tokens counts as failed attempts', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    for (let times = 0; times < 10; times++)
      await expectError(await status(world, `sgw_op_${'B'.repeat(43)}`), 401, 'Invalid API key')
    await expectError(await status(world, token), 429, 'Too many requests')
  })

  test('has no other form of login', async () => {
    await using world = await createWorld(quiet)
    for (const login of [null, '', 0, 1, true, [], {}, ['x'], `' OR 1=1 --`, 'sgwlogin_'].slice(0, 9))
      await expectError(await signInWith(world, { login }), 401, 'Invalid or expired login')
    await expectError(await signInWith(world, 'nonsense'), 400, 'Invalid JSON')
    await expectError(await signInWith(world, '[]'), 400, 'Invalid JSON')
  })
})

/** Sends `{}` from this machine with exactly these headers. */
async function withoutLogin(
  world: World,
  host: string,
  more: string[] = [],
): Promise<{ status: number; body: string }> {
  return ask(world.url, [`POST ${SESSION} HTTP/1.1`, `Host: ${host}`, ...more, 'Content-Length: 2'], '{}')
}

describe('without a link, in development with the simulator', () => {
  test('a page of the gateway on this machine signs in', async () => {
    await using world = await createWorld(quiet)
    const { port } = new URL(world.url)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect((await withoutLogin(world, host, [`Origin: http://${host}`])).status).toBe(200)
    const host = `localhost:${port}`
    const answer = await withoutLogin(world, host, [`Origin: http://${host}`, 'Sec-Fetch-Site: same-origin'])
    expect(JSON.parse(answer.body)).toMatchObject({ token: expect.stringMatching(/^sgw_op_/) })
  })

  test('nobody else does', async () => {
    await using world = await createWorld({ ...quiet, env: { CORS_ORIGINS: '*' } })
    const { port } = new URL(world.url)
    const host = `localhost:${port}`
    const own = `Origin: http://${host}`
    const attempts: [why: string, host: string, headers: string[]][] = [
      ['no Origin, as of a program', host, []],
      ['CSRF: another site', host, ['Origin: https://evil.example']],
      ['CSRF: a sandboxed frame', host, ['Origin: null']],
      ['another program on this machine', host, ['Origin: http://localhost:8080']],
      ['another port of the same name', host, ['Origin: http://localhost']],
      ['a page by https', host, [`Origin: https://${host}`]],
      ['DNS rebinding', `evil.example:${port}`, [`Origin: http://evil.example:${port}`]],
      [
        'DNS rebinding, a name that looks local',
        `localhost.evil.example:${port}`,
        [`Origin: http://localhost.evil.example:${port}`],
      ],
      [
        'DNS rebinding, a number that looks local',
        `127.0.0.1.evil.example:${port}`,
        [`Origin: http://127.0.0.1.evil.example:${port}`],
      ],
      ['an address that is not loopback', `192.168.1.5:${port}`, [`Origin: http://192.168.1.5:${port}`]],
      ['a tunnel that rewrites Host', host, [own, 'X-Forwarded-For: 203.0.113.9']],
      ['a tunnel that says it is local', host, [own, 'X-Forwarded-For: 127.0.0.1']],
      ['a proxy', host, [own, 'Via: 1.1 proxy']],
      ['a page of another site, by its fetch metadata', host, [own, 'Sec-Fetch-Site: cross-site']],
    ]
    for (const [why, name, headers] of attempts) {
      const { status: code, body } = await withoutLogin(world, name, headers)
      expect({ why, code, body }).toEqual({ why, code: 401, body: '{"error":"Invalid or expired login"}' })
    }
    const { rows } = await world.gateway.database.gate.execute('SELECT * FROM operator_sessions')
    expect(rows).toEqual([])
  })

  test('a page that asks in vain does not block its address', async () => {
    await using world = await createWorld({ ...quiet, outside: true })
    for (let times = 0; times < 15; times++)
      await expectError(await signInWith(world, {}), 401, 'Invalid or expired login')
  })

  test.each([['the real provider', { outside: true }]])('not with %s', async (_, options) => {
    await using world = await createWorld({ ...quiet, ...options })
    const { host } = new URL(world.url)
    expect((await withoutLogin(world, host, [`Origin: http://${host}`])).status).toBe(401)
  })
})

describe('in production', () => {
  const secure = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' }

  test('a session is opened by a link over HTTPS alone', async () => {
    await using world = await createWorld({ ...quiet, env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } })
    const login = await newLogin(world)
    await expectError(await signInWith(world, { login }), 403, 'HTTPS required')
    await expectError(
      await signInWith(world, {}, { ...secure, origin: 'https://sms.example.com' }),
      401,
      'Invalid or expired login',
    )
    const answer = await signInWith(world, { login }, secure)
    const { token } = (await answer.json()) as SignedIn
    await expectError(await status(world, token), 403, 'HTTPS required')
    expect((await world.call('GET', '/v1/operator/status', { key: token, headers: secure })).status).toBe(200)
    const unknown = await world.call('GET', '/v1/operator/simulator/calls', { key: token, headers: secure })
    await expectError(unknown, 404, 'Not found')
  })
})

describe('CONSOLE=off', () => {
  test('removes the operator’s endpoints from the listener, and old tokens are worth nothing', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    await world.running.stop()
    await using off = await createWorld({ ...quiet, folder: world.folder, env: { CONSOLE: 'off' } })
    await expectError(await signInWith(off, {}), 401, 'Missing or invalid API key')
    await expectError(await status(off, token), 401, 'Invalid API key')
    await expectError(
      await off.call('GET', '/v1/me', { key: token, headers: { 'sgw-app': off.app.appId } }),
      401,
      'Invalid API key',
    )
    await expectError(await off.call('GET', '/v1/operator/status'), 404, 'Not found')
    await expectError(await off.call('GET', '/', { headers: { accept: 'text/html' } }), 404, 'Not found')
    expect((await operate(off, 'POST', '/v1/operator/links')).status).toBe(409)
    expect((await operate(off, 'GET', '/v1/operator/status')).status).toBe(200)
    expect(JSON.stringify(await (await off.call('GET', '/openapi.json')).json())).not.toContain('/v1/operator')
  })
})

test('each change that an operator makes leaves a line in the log: who, what, whom', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const { sessionId, token } = await signIn(world)
  const headers = { 'sgw-app': world.app.appId }
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { key: token, headers, body: { webhookUrl: null } })
  await world.call('GET', '/v1/apps', { key: token, headers })
  const create = (what: string, body: object) =>
    operate<Record<string, string>>(world, 'POST', `/v1/operator/${what}`, body)
  const { tenantId = '' } = (await create('tenants', { name: 'By the socket' })).body
  const { appId = '', apiKey = '' } = (await create('apps', { tenantId, name: 'Desk' })).body
  await operate(world, 'POST', `/v1/operator/apps/${appId}/rotate-key`)
  await operate(world, 'PUT', `/v1/operator/tenants/${tenantId}`, { status: 'suspended' })
  await operate(world, 'POST', '/v1/operator/unblock', { address: '192.0.2.7' })
  await operate(world, 'DELETE', '/v1/operator/sessions')
  const changes = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const made = changes.filter(({ msg }) => msg === 'an operator made a change')
  expect(made).toMatchObject([
    { session: 'socket', method: 'POST', path: '/v1/operator/links' },
    { session: sessionId, method: 'PUT', path: `/v1/apps/${world.app.appId}`, appId: world.app.appId },
    { session: 'socket', method: 'POST', path: '/v1/operator/tenants', tenantId },
    { session: 'socket', method: 'POST', path: '/v1/operator/apps', tenantId, appId },
    { session: 'socket', method: 'POST', path: `/v1/operator/apps/${appId}/rotate-key` },
    { session: 'socket', method: 'PUT', path: `/v1/operator/tenants/${tenantId}`, status: 'suspended' },
    { session: 'socket', method: 'POST', path: '/v1/operator/unblock', address: '192.0.2.7' },
    { session: 'socket', method: 'DELETE', path: '/v1/operator/sessions' },
  ])
  expect(changes.find(({ msg }) => msg === 'an operator signed in')).toMatchObject({ session: sessionId })
  for (const secret of [token, 'sgwlogin_', apiKey, 'By the socket']) expect(lines.join('\n')).not.toContain(secret)
})

test('GET / leads browsers to the console, and does not exist for programs', async () => {
  await using world = await createWorld(quiet)
  const page = await world.call('GET', '/', { key: null, headers: { accept: 'text/html,*/*;q=0.8' } })
  expect({ status: page.status, location: page.headers.get('location') }).toEqual({
    status: 302,
    location: 'console/',
  })
  for (const accept of ['*/*', 'application/json', 'text/html;q=0.5, application/json'])
    await expectError(await world.call('GET', '/', { key: null, headers: { accept } }), 404, 'Not found')
})
