import { expect, test } from 'bun:test'
import { createApp } from '../../../src/operator/apps.ts'
import { createTenant, setTenantStatus } from '../../../src/operator/tenants.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { newLink, open, pressConnect, tokenOf } from '../../support/connect-flow.ts'
import { type World, createWorld, recordedLog } from '../../support/world.ts'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

/** The headers of every page: no scripts, no frames, no cache, no referrer. */
function expectPage(response: Response, status: number): void {
  expect(response.status).toBe(status)
  const { headers } = response
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(rule)
  expect(policy).not.toMatch(/unsafe|script-src/)
}

test('the page shows a button that posts the token back, and does not consume it', async () => {
  await using world = await quiet()
  const link = await newLink(world)
  for (let time = 0; time < 3; time++) {
    const response = await open(world, link)
    expectPage(response, 200)
    const text = await response.text()
    expect(text).toContain('<form method="post" action="connect">')
    expect(text).toContain(`name="token" value="${tokenOf(link)}"`)
    expect(text).toContain('<button>Connect</button>')
    expect(text).not.toContain('<script')
  }
  expect((await pressConnect(world, tokenOf(link))).status).toBe(303)
})

test('the page’s policy allows only its own style, and its form may lead to the login', async () => {
  await using world = await quiet()
  const response = await open(world, await newLink(world))
  const style = /<style>([\s\S]*)<\/style>/.exec(await response.text())?.[1] ?? ''
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toContain(`'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'`)
  expect(policy).toContain(
    `form-action 'self' https: http: http://localhost:${new URL(world.url).port} http://127.0.0.1:`,
  )
})

test('with an HTTPS address, the form may lead only to https', async () => {
  await using world = await createWorld({ env: { PUBLIC_URL: 'https://sms.example.com' }, connect: false, work: false })
  const policy = (await open(world, await newLink(world))).headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/form-action 'self' https: https:\/\/sms\.example\.com http:\/\/127\.0\.0\.1:\d+;/)
})

test('the log has the reason for a refused link and the request’s id, but the answer does not', async () => {
  const { log, lines } = recordedLog()
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, log, clock })
  const [used, expired, suspended] = [await newLink(world), await newLink(world), await newLink(world, 'invite')]
  await pressConnect(world, tokenOf(used))
  const refused = async (token: string, requestId: string): Promise<string> => {
    const response = await open(world, `/v1/rc/connect?token=${token}`, { 'x-request-id': requestId })
    expectPage(response, 400)
    return response.text()
  }
  const pages = [await refused('a'.repeat(43), 'r-unknown'), await refused(tokenOf(used), 'r-used')]
  clock.advance(300_000)
  pages.push(await refused(tokenOf(expired), 'r-expired'))
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  pages.push(await refused(tokenOf(suspended), 'r-suspended'))
  expect(new Set(pages).size).toBe(1)
  const logged = lines.filter((line) => line.includes('connect link refused')).map((line) => JSON.parse(line))
  expect(logged.map(({ requestId, why }: Record<string, string>) => [requestId, why])).toEqual([
    ['r-unknown', 'unknown'],
    ['r-used', 'used'],
    ['r-expired', 'expired'],
    ['r-suspended', 'tenant_not_active'],
  ])
  for (const link of [used, expired, suspended]) expect(lines.join('')).not.toContain(tokenOf(link))
})

test('the button leads to the provider’s authorization address, with state and PKCE', async () => {
  await using world = await quiet()
  const response = await pressConnect(world, tokenOf(await newLink(world)))
  expect(response.status).toBe(303)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toBe('')
  const location = new URL(response.headers.get('location') ?? '')
  expect(location.pathname).toBe('/restapi/oauth/authorize')
  expect(Object.fromEntries(location.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'sgw-simulator',
    redirect_uri: `http://localhost:${new URL(world.url).port}/v1/rc/callback`,
    state: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    code_challenge_method: 'S256',
  })
})

test('with the built-in simulator, the redirect also leads to PUBLIC_URL', async () => {
  await using world = await createWorld({ connect: false, env: { PUBLIC_URL: 'http://sms.test:8080' } })
  const response = await pressConnect(world, tokenOf(await newLink(world)))
  const location = new URL(response.headers.get('location') ?? '')
  expect(location.searchParams.get('redirect_uri')).toBe('http://sms.test:8080/v1/rc/callback')
})

test('a token can be used once, also by simultaneous requests', async () => {
  await using world = await quiet()
  const token = tokenOf(await newLink(world))
  const responses = await Promise.all(Array.from({ length: 10 }, () => pressConnect(world, token)))
  expect(responses.filter((response) => response.status === 303)).toHaveLength(1)
  for (const response of responses.filter((one) => one.status !== 303)) {
    expectPage(response, 400)
    expect(await response.text()).toContain('<h1>Invalid or expired token</h1>')
  }
  expectPage(await open(world, `/v1/rc/connect?token=${token}`), 400)
})

test('a missing token and a bad token have different pages, for GET and POST', async () => {
  await using world = await quiet()
  for (const path of ['/v1/rc/connect', '/v1/rc/connect?token=']) {
    const response = await open(world, path)
    expectPage(response, 400)
    expect(await response.text()).toContain('<h1>Missing token</h1>')
  }
  for (const token of ['x', '%00', 'a'.repeat(43), "'; DROP TABLE apps; --", '%3Cscript%3E', 'a'.repeat(5000)]) {
    const response = await open(world, `/v1/rc/connect?token=${token}`)
    expectPage(response, 400)
    const text = await response.text()
    expect(text).toContain('<h1>Invalid or expired token</h1>')
    expect(text).not.toContain('<script')
  }
  const missing = await pressConnect(world, null)
  expectPage(missing, 400)
  expect(await missing.text()).toContain('<h1>Missing token</h1>')
  expectPage(await pressConnect(world, 'nonsense'), 400)
})

test('the token may be sent as JSON with any Content-Type; any other body lacks a token and gets the page', async () => {
  await using world = await quiet()
  const token = tokenOf(await newLink(world))
  const post = (body: string, type: string): Promise<Response> =>
    world.call('POST', '/v1/rc/connect', { key: null, body, headers: { 'content-type': type } })
  for (const body of ['{}', '[]', '5', '{"token":5}', '{"token":null}', '{bad', 'null', '"token"', '', '\u0000']) {
    const refused = await post(body, 'application/json')
    expectPage(refused, 400)
    expect(await refused.text()).toContain('<h1>Missing token</h1>')
  }
  expectPage(
    await post(
      '--x\r\nContent-Disposition: form-data; name="token"\r\n\r\nx\r\n--x--',
      'multipart/form-data; boundary=x',
    ),
    400,
  )
  expect((await post(JSON.stringify({ token }), 'application/json')).status).toBe(303)
  for (const type of ['Application/X-WWW-Form-URLEncoded; charset=UTF-8', 'text/plain', 'application/json', ''])
    expect((await post(`token=${tokenOf(await newLink(world))}`, type)).status).toBe(303)
})

test('a tenant’s name is escaped', async () => {
  await using world = await quiet()
  const { tenantId } = await createTenant(world.gateway, { name: `<img src=x onerror=alert(1)>"'&` })
  const app = await createApp(world.gateway, { tenantId, name: 'x', webhookUrl: null, role: 'app' })
  const text = await (await open(world, await newLink(world, 'connect', app.apiKey))).text()
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;')
  expect(text).not.toContain('<img')
})

test('a tenant’s links do not work while it is suspended', async () => {
  await using world = await quiet()
  const link = await newLink(world)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  expectPage(await open(world, link), 400)
  expectPage(await pressConnect(world, tokenOf(link)), 400)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  expect((await pressConnect(world, tokenOf(link))).status).toBe(303)
})
