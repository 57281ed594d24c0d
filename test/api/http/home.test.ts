import { expect, test } from 'bun:test'
import type { NetworkInterfaceInfo } from 'node:os'
import { isHomeHost } from '../../../src/auth/home-host.ts'
import { RequestPipeline } from '../../../src/api/http/request-pipeline.ts'
import { plainHttpAddresses } from '../../../src/operator/console-addresses.ts'
import { startReceiver } from '../../support/receiver.ts'
import { newLogin } from '../../support/operator.ts'
import { ask } from '../../support/raw-http.ts'
import { listenTo } from '../../support/socket.ts'
import { HOME, type World, createWorld, recordedLog } from '../../support/world.ts'

const REFUSED = { status: 403, body: '{"error":"HTTPS required"}' }

const atHome = (env: Record<string, string> = {}, log = recordedLog().log): Promise<World> =>
  createWorld({ work: false, connect: false, log, env: { ...HOME, ...env } })

/** Hosts that a browser sends for a name that only this network can have given, or for an address. */
const OWN_HOSTS = [
  'localhost',
  'localhost:3000',
  'LocalHost:3000',
  '127.0.0.1:3000',
  '192.168.1.5',
  '203.0.113.7:3000',
  '[::1]:3000',
  '[FE80::1]',
  '[::ffff:172.17.0.1]:80',
  'raspberrypi',
  'my_service:3000',
  'sgw-1',
  'raspberrypi.local:3000',
  'a.b.local',
  'Nas.Home.Arpa',
]

/** Names of strangers, and texts that a parser could take for another host than the one before it. */
const STRANGE_HOSTS = [
  '',
  'evil.example',
  'evil.example:3000',
  'EVIL.EXAMPLE',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.1.nip.io:3000',
  'evil.local.example',
  'evil.xlocal',
  'local.evil.example',
  'home.arpa.evil.example',
  'evil.arpa',
  'home.arpa',
  '.local',
  'a..local',
  'localhost.',
  'evil.',
  'raspberrypi.local.',
  'evil.example.',
  'user@localhost',
  'localhost@evil.example',
  'localhost:3000@evil.example',
  'localhost:',
  'localhost:evil.example',
  'localhost:123456',
  'localhost#evil.example',
  'localhost/evil.example',
  'localhost?evil.example',
  String.raw`localhost\evil.example`,
  'localhost evil.example',
  'localhost%00.evil.example',
  'localhost%2eevil.example',
  '127.1',
  '0177.0.0.1',
  '127.0.0.1.',
  '127.0.0.256',
  '[::1',
  '::1',
  '[evil.example]',
  '[::1].evil.example',
  '[fe80::1%25eth0]',
  '[fe80::1%evil.example]',
  'xn--bcher-kva.example',
  'bücher.local',
  'ⓛocalhost',
  'loc\u00adalhost',
  `${'a'.repeat(64)}.local`,
  `${'a.'.repeat(130)}local`,
]

test('a Host is at home if it is an address, one label, or a name in .local or .home.arpa', () => {
  expect(OWN_HOSTS.filter((host) => !isHomeHost(host))).toEqual([])
  expect(STRANGE_HOSTS.filter((host) => isHomeHost(host))).toEqual([])
})

test('production without a public address serves plain HTTP to this machine: API, console, WebSocket and documentation', async () => {
  await using world = await atHome()
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  expect((await world.call('GET', '/docs')).status).toBe(200)
  expect((await world.call('GET', '/console/')).status).toBe(200)
  const login = await newLogin(world)
  expect((await world.call('POST', '/v1/operator/session', { key: null, body: { login } })).status).toBe(200)
  await using socket = await listenTo(world.url, { apiKey: world.key })
  expect(socket.isOpen).toBe(true)
  for (const host of OWN_HOSTS)
    expect([host, (await asked(world, '/v1/me', [`Host: ${host}`])).status]).toEqual([host, 200])
})

/** Requests a path with the first app's key. */
const asked = (world: World, path: string, lines: readonly string[]) =>
  ask(world.url, [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${world.key}`, 'Connection: close', ...lines])

test('a page whose name was made to resolve to this machine gets nothing, by HTTP, WebSocket or of the console', async () => {
  await using world = await atHome()
  for (const path of ['/v1/me', '/console/', '/docs', '/v1/rc/callback', '/v1/rc/connect?token=x', '/nothing'])
    expect([path, await asked(world, path, ['Host: evil.example'])]).toMatchObject([path, REFUSED])
  for (const host of STRANGE_HOSTS.filter((name) => isLatin(name))) {
    const { status, body } = await asked(world, '/v1/me', [`Host: ${host}`])
    // Bun itself refuses a request whose Host it cannot read.
    expect([host, status, status === 400 || body === REFUSED.body]).toEqual([host, status === 400 ? 400 : 403, true])
  }
  const upgrade = ['Connection: upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: eA==']
  expect(await ask(world.url, ['GET /ws HTTP/1.1', 'Host: evil.example', ...upgrade])).toMatchObject(REFUSED)
  expect(await ask(world.url, ['GET /v1/me HTTP/1.0', `Authorization: Bearer ${world.key}`])).toMatchObject(REFUSED)
  expect(await asked(world, '/health', ['Host: evil.example'])).toMatchObject({ status: 200 })
})

/** Whether a test can write it into a header. */
const isLatin = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

test('any header that a proxy adds makes the client another machine', async () => {
  await using world = await atHome({ PLAIN_HTTP_CIDRS: '192.168.0.0/16' })
  for (const header of [
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: localhost',
    'Forwarded: for=127.0.0.1;proto=https',
    'Via: 1.1 proxy',
    'X-Real-IP: 127.0.0.1',
    'True-Client-IP: 127.0.0.1',
    'CF-Connecting-IP: 127.0.0.1',
    'Tailscale-User-Login: me',
    'X-Original-Host: localhost',
    'X-Scheme: https',
    'Front-End-Https: on',
  ])
    expect([header, await asked(world, '/v1/me', ['Host: localhost', header])]).toMatchObject([header, REFUSED])
})

test('a JWT may not cross a network in clear, not even one of PLAIN_HTTP_CIDRS', async () => {
  await using world = await atHome({ PLAIN_HTTP_CIDRS: '172.17.0.0/16' })
  expect(await statusFrom(world, '127.0.0.1', '/v1/operator/extensions')).toBe(401)
  expect(await statusFrom(world, '172.17.0.1', '/v1/operator/extensions')).toBe(403)
  expect(await statusFrom(world, '172.17.0.1', '/v1/operator/status')).toBe(401)
})

/** The status of a request whose socket has this address. */
async function statusFrom(world: World, address: string, endpointPath = '/docs'): Promise<number | undefined> {
  const server = { requestIP: () => ({ address, port: 4711, family: 'IPv4' }) } as unknown as Bun.Server<unknown>
  const request = new Request(`http://172.17.0.2:3000${endpointPath}`, { headers: { host: '172.17.0.2:3000' } })
  const pipeline = new RequestPipeline(world.gateway, [], false)
  const answer = await pipeline.answer({ request, server, endpointPath }, () =>
    Promise.resolve({ status: 200, content: {} }),
  )
  return answer?.status
}

test('a trusted proxy still brings HTTPS, by a name at home', async () => {
  await using world = await atHome({ TRUSTED_PROXIES: '127.0.0.1' })
  const secure = ['Host: nas.local', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 203.0.113.9']
  expect((await asked(world, '/v1/me', secure)).status).toBe(200)
  const plain = secure.map((line) => line.replace('https', 'http'))
  expect(await asked(world, '/v1/me', plain)).toMatchObject(REFUSED)
})

test('a page whose name was made to resolve to this machine cannot pass for a trusted proxy', async () => {
  const { log, lines } = recordedLog()
  await using world = await atHome({ TRUSTED_PROXIES: '127.0.0.1' }, log)
  const asProxy = ['Host: evil.example', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 127.0.0.1']
  for (const path of ['/v1/me', '/console/', '/docs', '/v1/operator/session', '/v1/rc/connect?token=x', '/nothing'])
    expect([path, await asked(world, path, asProxy)]).toMatchObject([path, REFUSED])
  const upgrade = ['Connection: upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: eA==']
  expect(await ask(world.url, ['GET /ws HTTP/1.1', ...asProxy, ...upgrade])).toMatchObject(REFUSED)
  // Nor can its wrong keys block the programs of this machine.
  const wrong = ['GET /v1/me HTTP/1.1', 'Authorization: Bearer sgw_wrong', 'Connection: close', ...asProxy]
  for (let attempt = 0; attempt < 11; attempt++) expect(await ask(world.url, wrong)).toMatchObject(REFUSED)
  expect((await asked(world, '/v1/me', ['Host: localhost'])).status).toBe(200)
  expect(lines.filter((line) => line.includes('plain HTTP is refused'))).toEqual([
    expect.stringContaining('or .home.arpa; with PUBLIC_URL a proxy may pass on any name"'),
  ])
})

test('with a public address a trusted proxy may bring any name', async () => {
  const env = { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' }
  await using world = await createWorld({ work: false, connect: false, env })
  expect((await asked(world, '/v1/me', ['Host: other.example', 'X-Forwarded-Proto: https'])).status).toBe(200)
})

test('with a public address no client and no Host may do without HTTPS', async () => {
  await using world = await createWorld({ work: false, connect: false, env: { NODE_ENV: 'production' } })
  for (const host of OWN_HOSTS) expect(await asked(world, '/v1/me', [`Host: ${host}`])).toMatchObject(REFUSED)
})

test('beside this machine, exactly the addresses of PLAIN_HTTP_CIDRS may speak plain HTTP', async () => {
  await using world = await atHome({ PLAIN_HTTP_CIDRS: '172.17.0.0/16, 192.168.1.7, fe80::/64, fd12:3456::/32' })
  for (const near of [
    '127.0.0.1',
    '127.8.9.1',
    '::1',
    '::ffff:127.0.0.1',
    '172.17.0.1',
    '172.17.255.255',
    '::ffff:172.17.0.1',
    '::ffff:ac11:1',
    '192.168.1.7',
    'fe80::1',
    'fe80::1%eth0',
    'fd12:3456::9',
  ])
    expect([near, await statusFrom(world, near)]).toEqual([near, 200])
  for (const far of [
    '',
    '172.18.0.1',
    '172.16.255.255',
    '192.168.1.8',
    '10.0.0.1',
    '::ffff:172.18.0.1',
    '64:ff9b::ac11:1',
    '2002:ac11:1::1',
    '::172.17.0.1',
    '::127.0.0.1',
    '::7f00:1',
    'fe80:0:0:1::1',
    'fd12:3457::9',
    '203.0.113.7',
    '0.0.0.0',
    '::',
  ])
    expect([far, await statusFrom(world, far)]).toEqual([far, 403])
})

test('an app at home gets its webhooks by plain HTTP, at a literal address that WEBHOOK_ALLOW_CIDRS allows', async () => {
  await using receiver = startReceiver()
  const register = (world: World, webhookUrl: string) =>
    world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl } })
  const refused = { error: 'Invalid webhookUrl: must be https:// in production, max 2000 chars' }
  await using closed = await atHome()
  expect(await register(closed, receiver.url)).toEqual({ status: 400, body: refused })
  await using world = await atHome({ WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
  expect(await register(world, receiver.url.replace('127.0.0.1', 'localhost'))).toEqual({ status: 400, body: refused })
  expect(await register(world, 'http://192.168.1.9:8123/')).toEqual({ status: 400, body: refused })
  expect(await register(world, receiver.url)).toMatchObject({ status: 200 })
  const tested = await world.json('POST', `/v1/apps/${world.app.appId}/test-webhook`)
  expect(tested).toMatchObject({ status: 200, body: { ok: true } })
  expect(receiver.requests).toHaveLength(1)
})

test('sgw console prints the link for this machine, and for each of its addresses that PLAIN_HTTP_CIDRS names', () => {
  const of = (address: string) => ({ address }) as NetworkInterfaceInfo
  const interfaces = {
    lo: [of('127.0.0.1'), of('::1')],
    eth0: [of('192.168.1.5'), of('fd00::5'), of('fe80::5'), of('2001:db8::5')],
    docker0: [of('172.17.0.1')],
  }
  const addressesAt = (host: string, ...plainHttpCidrs: string[]): string[] =>
    plainHttpAddresses({ host, port: 3000, plainHttpCidrs }, interfaces)
  expect(addressesAt('0.0.0.0')).toEqual([])
  expect(addressesAt('0.0.0.0', '192.168.1.0/24', 'fd00::/8', 'fe80::/10')).toEqual(['http://192.168.1.5:3000'])
  expect(addressesAt('::', '172.16.0.0/12', 'fd00::/8', 'fe80::/10')).toEqual([
    'http://[fd00::5]:3000',
    'http://172.17.0.1:3000',
  ])
  expect(addressesAt('127.0.0.1', '192.168.1.0/24')).toEqual([])
  expect(addressesAt('192.168.1.5', '192.168.1.0/24', '172.16.0.0/12')).toEqual(['http://192.168.1.5:3000'])
})

test('sgw console prints the address of the network that a single machine of PLAIN_HTTP_CIDRS is in', () => {
  const of = (cidr: string) => ({ address: cidr.replace(/\/.*/, ''), cidr }) as NetworkInterfaceInfo
  const interfaces = {
    lo: [of('127.0.0.1/8')],
    eth0: [of('192.168.178.20/24'), of('fd00::5/64')],
    docker0: [of('172.17.0.1/16')],
  }
  const addressesAt = (...plainHttpCidrs: string[]): string[] =>
    plainHttpAddresses({ host: '::', port: 3000, plainHttpCidrs }, interfaces)
  expect(addressesAt('192.168.178.7/32')).toEqual(['http://192.168.178.20:3000'])
  expect(addressesAt('192.168.178.0/28', 'fd00::7/128')).toEqual([
    'http://192.168.178.20:3000',
    'http://[fd00::5]:3000',
  ])
  expect(addressesAt('192.168.179.7/32', '10.0.0.0/8')).toEqual([])
})

test('the log says once for each client why plain HTTP was refused', async () => {
  const { log, lines } = recordedLog()
  await using world = await atHome({}, log)
  const reasons = (): unknown[] =>
    lines
      .filter((line) => line.includes('plain HTTP is refused'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
  for (let time = 0; time < 3; time++) await asked(world, '/v1/me', ['Host: sgw.lan'])
  await asked(world, '/v1/me', ['Host: other.lan'])
  await asked(world, '/v1/me', ['Host: localhost', 'Via: 1.1 proxy'])
  expect(reasons()).toEqual([
    'plain HTTP is refused: its Host must be localhost, an address, a name without a dot, or a name in .local or .home.arpa',
    'plain HTTP is refused: a proxy forwarded the request, so its client is another machine',
  ])
})
