import { expect, test } from 'bun:test'
import { rawServer } from '../provider/ringcentral/servers.ts'
import { Deployment } from '../support/deployment.ts'
import { HAS_LITESTREAM } from '../support/litestream.ts'
import { sgw, startProgram, startServer, temporaryFolder } from '../support/process.ts'
import { finished, freePort } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { S3Stub } from '../support/s3-stub.ts'
import { StandbyNode } from '../support/standby/standby-node.ts'
import { startRemoteSimulator } from '../support/remote-simulator.ts'
import { until } from '../support/world.ts'

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'FTP_PROXY'].flatMap((name) => [name, name.toLowerCase()])
const NUMBERS = { ours: '+15555550100', contact: '+15555550199' }

/** As Docker sets it for every container, with a NO_PROXY that names another host. */
const through = (proxy: string): Record<string, string> => ({
  ...Object.fromEntries(NAMES.map((name) => [name, proxy])),
  NO_PROXY: 'internal.example.com',
})

/** A port that refuses, and a proxy that refuses each request and counts them. */
const PROXIES = {
  'a port that refuses': async () => ({
    url: `http://127.0.0.1:${freePort()}`,
    asked: [] as string[],
    [Symbol.asyncDispose]: async () => undefined,
  }),
  'a proxy that answers 403': async () => {
    const asked: string[] = []
    const server = await rawServer((socket) =>
      socket.once('data', (head) => {
        asked.push(head.toString().split('\r\n')[0] ?? '')
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      }),
    )
    return Object.assign(server, { asked })
  },
}

for (const [name, start] of Object.entries(PROXIES)) {
  test(`with ${name} in the environment the first start sends and receives, and each command finds it`, async () => {
    await using proxy = await start()
    await using receiver = startReceiver()
    using folder = temporaryFolder()
    const port = freePort()
    const env = { DATABASE_URL: folder.database, PORT: String(port), HOME: folder.path, ...through(proxy.url) }
    await using server = await startServer(env)
    await server.printed(/sgw listens on/)
    const run = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await sgw(words, env)
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: expect.not.stringContaining('_PROXY') })
      return stdout
    }
    const { ours, contact } = NUMBERS
    expect(await run('--json', 'send', '--from', ours, '--to', contact, '--wait', 'Hello')).toContain('"sent"')
    for (const words of [['health'], ['status'], ['doctor'], ['console'], ['extensions', 'list']]) await run(...words)
    await using listening = startProgram('src/cli.ts', ['listen', '--forward-to', receiver.url], env)
    await listening.printed(/Ready/)
    await run('simulate', 'inbound', '--to', ours, '--from', contact, '--text', 'Good morning')
    expect((await receiver.received(1))[0]?.body['body']).toBe('Good morning')
    expect(proxy.asked).toEqual([])
    expect(server.stdout + server.stderr).not.toContain('did you mean')
  })

  test(`with ${name} in the environment the test kit sends, receives and lists`, async () => {
    await using proxy = await start()
    await using kit = startProgram('test/testing/fixtures/use-test-kit.ts', [], through(proxy.url))
    expect(await kit.ended()).toEqual({ code: 0, stdout: 'Hello, Good morning\n', stderr: '' })
    expect(proxy.asked).toEqual([])
  })

  test(`with ${name} in the environment a backup goes to a storage on this machine and comes back`, async () => {
    await using proxy = await start()
    await using stub = new S3Stub()
    await using deployment = await Deployment.create({ ...stub.environment(), ...through(proxy.url) })
    await deployment.start()
    await deployment.connect('http://127.0.0.1:9/nobody')
    const { stdout } = await finished(['sgw', 'doctor'], deployment.env())
    expect(stdout).toMatch(new RegExp(`${deployment.simulator.url} answers 200[^]+/v1/rc/callback is accepted`))
    const tenants = await deployment.command('tenant', 'list')
    await until(() => stub.bucket.keys.length > 0)
    await deployment.stop()
    const drill = await finished(['sgw', 'restore', '--check'], deployment.env())
    expect(drill).toMatchObject({ code: 0 })
    deployment.loseVolume()
    await deployment.start()
    expect(await deployment.command('tenant', 'list')).toEqual(tenants)
    await deployment.stop()
    expect(proxy.asked).toEqual([])
  }, 60_000)

  if (HAS_LITESTREAM)
    test(`with ${name} in the environment a gateway takes the lease of a storage on this machine`, async () => {
      await using stack = new AsyncDisposableStack()
      const proxy = stack.use(await start())
      const storage = stack.use(new S3Stub())
      const folder = stack.use(temporaryFolder())
      const simulator = await startRemoteSimulator(folder.file('simulator.log'))
      stack.use(simulator.program)
      const settings = { DURABILITY: 'replica', STANDBY: 'on', PROVIDER_TIMEOUT: '2s', RECONCILE_SETTLE: '7s' }
      const environment = { ...settings, ...storage.environment(), ...through(proxy.url) }
      const node = stack.use(await StandbyNode.create({ environment, simulator, roundTripMs: 0, preloads: [] }))
      await until(async () => (await node.status()) === 'ready', 40_000)
      expect(proxy.asked).toEqual([])
    }, 60_000)
}
