import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LoggedProgram, PROJECT, finished, freePort } from '../support/program.ts'
import { temporaryFolder } from '../support/process.ts'
import { FROM, TO, createWorld, until } from '../support/world.ts'

// These tests run the examples in other languages that docs/receive.md links to, unchanged. None of them is needed to develop sgw, so a machine
// without one leaves its test out.

setDefaultTimeout(120_000)

const exampleOf = (name: string): string => readFileSync(join(PROJECT, 'examples/receive', name), 'utf8')
const ENVIRONMENT = { HOME: process.env['HOME'] ?? '' }

interface Server {
  language: string
  file: string
  text: string
  /** Makes the program, in the folder of the file. */
  build?: string[]
  command(port: string): string[]
}

const SERVERS: Server[] = [
  { language: 'python3', file: 'webhook.py', text: exampleOf('webhook.py'), command: () => ['python3', 'webhook.py'] },
  {
    language: 'php',
    file: 'webhook.php',
    text: exampleOf('webhook.php'),
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'webhook.php'],
  },
  {
    language: 'go',
    file: 'webhook.go',
    text: exampleOf('webhook.go'),
    build: ['go', 'build', '-o', 'webhook', 'webhook.go'],
    command: () => ['./webhook'],
  },
]

// PHP and Go are not needed to develop sgw, so a machine without one of them leaves its test out.
for (const { language, file, text, build, command } of SERVERS)
  test.if(Bun.which(language) !== null)(
    `the ${language} example takes the gateway’s webhooks, and refuses others`,
    async () => {
      await using world = await createWorld()
      using folder = temporaryFolder()
      writeFileSync(folder.file(file), text)
      if (build !== undefined) expect(await finished(build, ENVIRONMENT, folder.path)).toMatchObject({ code: 0 })
      const port = String(freePort())
      await using server = new LoggedProgram({
        command: command(port),
        env: { ...ENVIRONMENT, SGW_WEBHOOK_SECRET: world.app.webhookSecret, PORT: port },
        cwd: folder.path,
        log: folder.file('log'),
      })
      const url = `http://127.0.0.1:${port}/sms`
      const post = (headers: Record<string, string> = {}): Promise<number> =>
        fetch(url, { method: 'POST', body: '{}', headers }).then(({ status }) => status)
      await until(async () => (await post().catch(() => 0)) === 401, 60_000)
      await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: url } })
      await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'Grüße' })
      const [attempt] = await until(async () => {
        const { attempts } = (await world.json<{ attempts: object[] }>('GET', '/v1/webhook-deliveries')).body
        return attempts.length > 0 ? attempts : null
      })
      expect(attempt).toMatchObject({ outcome: 'success', statusCode: 204 })
      await until(() => server.output().includes('sms_inbound +15555550177 Grüße'))
      const now = String(Math.floor(Date.now() / 1000))
      const signature = `sha256=${'0'.repeat(64)}`
      for (const timestamp of [now, '', 'x', '-1', '1'])
        expect(await post({ 'x-gateway-timestamp': timestamp, 'x-gateway-signature': signature })).toBe(401)
      expect(server.output().match(/sms_inbound/g)).toHaveLength(1)
    },
  )

const hasWebSockets =
  Bun.which('python3') !== null && Bun.spawnSync(['python3', '-c', 'import websockets']).exitCode === 0

// Python and its package are not needed to develop sgw, so a machine without them leaves the test out.
test.if(hasWebSockets)('the Python example follows events, and catches up after a restart', async () => {
  await using world = await createWorld()
  using folder = temporaryFolder()
  writeFileSync(folder.file('follow.py'), exampleOf('follow.py'))
  const start = (log: string): LoggedProgram =>
    new LoggedProgram({
      command: ['python3', 'follow.py'],
      env: { ...ENVIRONMENT, SGW_URL: world.url, SGW_KEY: world.key },
      cwd: folder.path,
      log: folder.file(log),
    })
  const receive = (text: string) => world.control.injectSms({ from: TO, to: FROM, text })
  const kept = (): Promise<string> =>
    Bun.file(folder.file('cursor'))
      .text()
      .catch(() => '')
  {
    await using first = start('first')
    await until(async () => (await kept()) !== '')
    await receive('While it listens')
    await until(() => /^sms_inbound msg_\w+ While it listens$/m.test(first.output()))
  }
  {
    await using wrong = new LoggedProgram({
      command: ['python3', 'follow.py'],
      env: { ...ENVIRONMENT, SGW_URL: world.url, SGW_KEY: 'sgw_wrong' },
      cwd: folder.path,
      log: folder.file('wrong'),
    })
    expect([await wrong.ended(), wrong.output()]).toEqual([1, expect.stringContaining('The gateway refuses the key: ')])
  }
  await receive('While it was away')
  await using second = start('second')
  await until(() => /^sms_inbound msg_\w+ While it was away$/m.test(second.output()))
  await receive('Afterwards')
  await until(() => /^sms_inbound msg_\w+ Afterwards$/m.test(second.output()))
})
