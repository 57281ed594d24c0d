import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import type { SimulatorControl } from '../../src/simulator/control.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { runSgw } from '../support/cli.ts'
import { startServer, temporaryFolder } from '../support/process.ts'

/** A start in development whose provider is not the built-in simulator. */
async function startWithProvider(database: string, serverUrl: string) {
  const provider = { RC_SERVER_URL: serverUrl, RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key' }
  const server = await startServer({ DATABASE_URL: database, LOG_LEVEL: 'warn', ...provider })
  await server.printed(/Database/)
  const link = /^http:\S+\/v1\/rc\/connect\?token=\S+$/m.exec(server.stdout)?.[0] ?? null
  const key = /API key +(sgw_[\w-]{43})\n/.exec(server.stdout)?.[1] ?? null
  const login = /\/console\/#login=(sgwlogin_[\w-]{43})\n/.exec(server.stdout)?.[1] ?? ''
  return Object.assign(server, { link, key, login })
}

async function connectBy(link: string, url: string): Promise<Response> {
  const token = new URL(link).searchParams.get('token') ?? ''
  const init = { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' } as const
  const consent = await fetch(`${url}/v1/rc/connect`, init)
  const login = await fetch(consent.headers.get('location') ?? '', { redirect: 'manual' })
  const callback = new URL(login.headers.get('location') ?? '')
  return fetch(`${url}${callback.pathname}${callback.search}&format=json`)
}

test('a first start with RC_CLIENT_ID makes tenant and app, and prints the key and a link that connects an extension', async () => {
  using folder = temporaryFolder()
  const simulator = await startSimulator({ clock: systemClock, clientId: 'client', clientSecret: 'client-key' })
  simulator.control.addExtension({ name: 'Real phone', numbers: ['+15555550100'] })
  let key: string | null = null
  {
    await using server = await startWithProvider(folder.database, simulator.url)
    key = server.key
    expect(server.stdout).not.toContain('simulator stands in')
    expect((await connectBy(server.link ?? '', server.url)).status).toBe(200)
    const sent = await fetch(`${server.url}/v1/sms/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ from: '+15555550100', to: '+15555550199', body: 'Hello' }),
    })
    expect(sent.status).toBe(202)
    for (let times = 0; times < 2; times++) {
      const body = JSON.stringify({ login: server.login })
      expect((await fetch(`${server.url}/v1/operator/session`, { method: 'POST', body })).status).toBe(200)
    }
  }
  await using again = await startWithProvider(folder.database, simulator.url)
  expect(again.key).toBe(key)
  expect(again.link).toBeNull()
  await simulator.stop()
}, 60_000)

test('a database that has tenants already gets no further one', async () => {
  using folder = temporaryFolder()
  const simulator = await startSimulator({ clock: systemClock, clientId: 'client', clientSecret: 'client-key' })
  await runSgw(['tenant', 'create', '--name', 'Mine'], { DATABASE_URL: folder.database })
  await using server = await startWithProvider(folder.database, simulator.url)
  expect({ key: server.key, link: server.link }).toEqual({ key: null, link: null })
  expect(server.login).not.toBe('')
  const { stdout } = await runSgw(['tenant', 'list', '--json'], { DATABASE_URL: folder.database })
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['Mine'])
  await simulator.stop()
}, 60_000)

/** A start whose extension is connected by a JWT of the simulator. */
async function startWithJwt(
  env: Record<string, string>,
  prepare: (control: SimulatorControl, jwt: string) => unknown = () => undefined,
) {
  const simulator = await startSimulator({ clock: systemClock, clientId: 'client', clientSecret: 'client-key' })
  const { extensionId } = simulator.control.addExtension({ name: 'Real phone', numbers: ['+15555550100'] })
  const { jwt } = simulator.control.addJwt({ extensionId })
  prepare(simulator.control, jwt)
  const provider = { RC_SERVER_URL: simulator.url, RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key', RC_JWT: jwt }
  return { jwt, server: await startServer({ ...provider, ...env }), stopSimulator: () => simulator.stop() }
}

test('a first start with RC_JWT asks for no login, and says from where texts come and which number can send', async () => {
  using folder = temporaryFolder()
  const { jwt, server, stopSimulator } = await startWithJwt({ DATABASE_URL: folder.database })
  await using _server = server
  await server.printed(/see what became/)
  expect(server.stdout).not.toContain('/v1/rc/connect')
  expect(server.stdout).toContain('\n  Your numbers      +15555550100\n')
  expect(server.stdout).toContain('\n  Texts come in     over a connection that this gateway opens to RingCentral')
  const line = /^curl -s http:\S+\/v1\/sms\/send -H 'Authorization: Bearer (sgw_\S+)' -d '(.*)'$/m.exec(server.stdout)
  const [, key = '', body = ''] = line ?? []
  const headers = { authorization: `Bearer ${key}` }
  const message = body.replace('"to":"+1…"', '"to":"+15555550199"')
  const sent = await fetch(`${server.url}/v1/sms/send`, { method: 'POST', headers, body: message })
  expect(sent.status).toBe(202)
  expect(server.stdout).not.toContain(jwt)
  await stopSimulator()
}, 60_000)

test('a production start at home says in its log how to go on, without a key and a link that signs in', async () => {
  using folder = temporaryFolder()
  const home = { NODE_ENV: 'production', HOST: '127.0.0.1', PLAIN_HTTP_CIDRS: '172.30.78.0/24' }
  const { jwt, server, stopSimulator } = await startWithJwt({ ...home, DATABASE_URL: folder.database })
  await using _server = server
  await server.printed(/RC_JWT is connected/)
  const said = server.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { msg: string }]))
  expect(said.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^no PUBLIC_URL is set: .*sgw console prints a link.* sgw app rotate-key APP a key$/),
      expect.stringMatching(/^plain HTTP is served to PLAIN_HTTP_CIDRS: /),
    ]),
  )
  for (const secret of ['sgw_', 'sgwlogin_', jwt]) expect(server.stdout).not.toContain(secret)
  await stopSimulator()
}, 60_000)

test('a start whose socket or JWT is refused says so, and does not say how to send before anything can be sent', async () => {
  const lacks = { status: 403, body: '{"errorCode":"CMN-401","message":"No","errors":[{"errorCode":"CMN-401"}]}' }
  {
    using folder = temporaryFolder()
    const { server, stopSimulator } = await startWithJwt({ DATABASE_URL: folder.database }, (control) =>
      control.fault({ route: 'wstoken', calls: null, fault: { kind: 'respond', ...lacks } }),
    )
    await using _server = server
    await server.printed(/see what became/)
    expect(server.stdout).toContain(
      '\n  Texts come in     up to a minute late: The RingCentral app lacks the permission WebSocketsSubscription',
    )
    await stopSimulator()
  }
  using folder = temporaryFolder()
  const { server, stopSimulator } = await startWithJwt({ DATABASE_URL: folder.database }, (control, jwt) =>
    control.removeJwt({ jwt }),
  )
  await using _server = server
  await server.printed(/Texts come in .*\n/)
  expect(server.stdout).toContain(
    '\n  Texts come in     not yet, RC_JWT has connected no extension: The JWT is not one that RingCentral accepts',
  )
  expect(server.stdout).not.toContain('/v1/sms/send')
  await stopSimulator()
}, 60_000)

test('a start in development says that PLAIN_HTTP_CIDRS lets nobody in there', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database, PLAIN_HTTP_CIDRS: '192.168.1.0/24' })
  await server.printed(/PLAIN_HTTP_CIDRS has no effect in development/)
}, 60_000)
