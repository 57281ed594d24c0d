import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, PROJECT, finished, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

// This test does what "Rehearse without an account" of docs/install.md says, with the page's own lines. It needs curl.

const SECTION =
  readFileSync(join(PROJECT, 'docs/install.md'), 'utf8')
    .split('## Rehearse without an account\n')[1]
    ?.split('\n## ')[0] ?? ''
const [SIMULATOR = '', VARIABLES = '', REHEARSAL = '', INBOUND = ''] = [
  ...SECTION.matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, block = '']) => block)

/** Of "A gateway at home". */
const HOME_BLOCKS = [...(SECTION.split('### A gateway at home\n')[1] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, block = '']) => block,
)

interface Created {
  tenantId: string
  apiKey: string
}

test('a rehearsal in production mode sends, survives kill -9 and sends nothing twice, without an account', async () => {
  using folder = temporaryFolder()
  const [port, simulated] = [String(freePort()), String(freePort())]
  const here = (text: string): string =>
    text
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll('127.0.0.1:4010', `127.0.0.1:${simulated}`)
      .replaceAll('npx -y bun@1.4.4', `'${process.execPath}'`)
  const variables = [...here(VARIABLES).matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
  const env: Record<string, string> = {
    ...Object.fromEntries(variables),
    ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
    HOST: '127.0.0.1',
    PORT: port,
    DATABASE_URL: folder.database,
  }
  const sh = async (text: string): Promise<string> => {
    const sgw = `sgw() { '${process.execPath}' src/cli.ts "$@"; }\n`
    const { code, stdout, stderr } = await finished(['sh', '-euc', sgw + here(text)], env)
    if (code !== 0) throw new Error(`${text} ended with ${code}: ${stderr}`)
    return stdout
  }
  const command = ['sh', '-c', `exec ${here(SIMULATOR).trim()} --port ${simulated}`]
  await using simulator = new LoggedProgram({ command, env: {}, cwd: PROJECT, log: folder.file('simulator.log') })
  await until(() => simulator.output().includes('listens on'), 20_000)
  const start = (name: string): LoggedProgram =>
    new LoggedProgram({ command: [process.execPath, 'src/cli.ts', 'start'], env, cwd: PROJECT, log: folder.file(name) })
  const health = `http://127.0.0.1:${port}/health`

  const first = start('first.log')
  await first.serving(health, 40_000)
  const { tenantId } = JSON.parse(await sh('sgw --json tenant create --name "My company"')) as Created
  const { apiKey } = JSON.parse(await sh(`sgw --json app create --tenant ${tenantId} --name "My app"`)) as Created
  const printed = await sh(REHEARSAL.replace('TENANT', tenantId).replace('KEY', apiKey))
  expect(printed).toMatch(/active +link +\+15555550100 +Reception/)
  expect(printed).toMatch(/"messageId":"msg_\w+","status":"queued"/)
  const sent = (): Promise<string> => sh(REHEARSAL.trim().split('\n').at(-1) ?? '')
  await until(async () => (await sent()).includes('A rehearsal'))
  first.signal('SIGKILL')
  await first.ended()

  await sh(INBOUND)
  await using second = start('second.log')
  await second.serving(health, 40_000)
  await until(async () => (await sh('sgw messages list --direction inbound')).includes('Hello'), 20_000)
  expect((await sent()).split('A rehearsal')).toHaveLength(2)
  second.signal('SIGTERM')
  expect(await second.ended()).toBe(0)
}, 90_000)

test('a gateway at home is rehearsed by pasting the page, and its first text and the answer come', async () => {
  using folder = temporaryFolder()
  const [port, simulated] = [String(freePort()), String(freePort())]
  const [simulator = '', gateway = '', texts = '', second = ''] = HOME_BLOCKS.map((block) =>
    block
      .trim()
      .replace('PORT=3000', `PORT=${port}`)
      .replaceAll('127.0.0.1:4010', `127.0.0.1:${simulated}`)
      .replaceAll('file:data/rehearsal/sgw.db', folder.database)
      .replaceAll('jwt.txt', folder.file('jwt.txt'))
      .replaceAll('npx -y bun@1.4.4', `'${process.execPath}'`),
  )
  const run = (line: string, log: string): LoggedProgram =>
    new LoggedProgram({ command: ['sh', '-c', `exec ${line}`], env: {}, cwd: PROJECT, log: folder.file(log) })
  await using provider = run(`${simulator} --port ${simulated}`, 'simulator.log')
  await until(() => provider.output().includes('listens on'), 20_000)
  const commands = texts.split('\n').slice(0, 2).join('\n')
  await using home = run(gateway, 'gateway.log')
  // `bun run start` has the gateway as its child, which a signal to it would not end.
  await using _ = {
    [Symbol.asyncDispose]: () => finished(['bash', '-euc', `${commands}\nsgw stop`], {}).then(() => {}),
  }
  await home.serving(`http://127.0.0.1:${port}/ready`, 40_000)
  await until(() => home.output().includes('RC_JWT_FILE is connected'), 20_000)
  const { code, stdout, stderr } = await finished(['bash', '-euc', texts], {})
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^status +sent$/m)
  expect(stdout).toMatch(/← \+15555550199 +received +Hello back$/m)
  const tenant = '"$(sgw --json tenant list | grep -o "tenant_[0-9a-f]*" | head -n 1)"'
  const all = `${commands}\n${second.replace('TENANT', tenant)}\nsgw extensions list`
  const more = await finished(['bash', '-euc', all], {})
  expect(more).toMatchObject({ code: 0, stderr: '' })
  expect(more.stdout).toMatch(/^629890017 .*active +jwt, no end +\+15555550101/m)
}, 90_000)
