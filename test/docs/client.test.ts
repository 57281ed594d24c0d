import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PipedProgram, temporaryFolder } from '../support/process.ts'
import { PROJECT } from '../support/program.ts'
import { signIn } from '../support/operator.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'
import { BASE_ENVIRONMENT } from '../support/environment.ts'

// These tests run the examples of docs/client.md unchanged but for the address of the gateway.

const PAGE = readFileSync(join(PROJECT, 'docs/client.md'), 'utf8')
const EXAMPLES = [...PAGE.matchAll(/```ts\n([^]*?)```/g)].map(([, text = '']) => text)
const [SEND, READ, ASK, FOLLOW, RECEIVE, PAGE_OF_A_BROWSER, OPERATE] = EXAMPLES

const folder = temporaryFolder()
mkdirSync(folder.file('node_modules'))
symlinkSync(PROJECT, folder.file('node_modules/sgw'))
for (const name of ['bun-types', '@types'])
  symlinkSync(join(PROJECT, 'node_modules', name), folder.file(`node_modules/${name}`))
afterAll(() => folder[Symbol.dispose]())

test('the examples have the right types', () => {
  expect(EXAMPLES).toHaveLength(7)
  for (const [index, text] of EXAMPLES.entries()) writeFileSync(folder.file(`example-${index}.ts`), text)
  const options =
    `--ignoreConfig --noEmit --singleThreaded --strict --skipLibCheck --target esnext --module esnext --moduleResolution bundler
    --allowImportingTsExtensions --customConditions bun --types bun-types`.split(/\s+/)
  const files = EXAMPLES.map((_, index) => `example-${index}.ts`)
  const command = [join(PROJECT, 'node_modules/.bin/tsc'), ...options, ...files]
  const { stdout } = Bun.spawnSync(command, { cwd: folder.path })
  expect(stdout.toString()).toBe('')
})

test('the first example sends a message and prints its status', async () => {
  await using world = await createWorld()
  await using program = run(SEND, world)
  expect(await program.ended()).toMatchObject({ code: 0, stdout: 'sent \n' })
  expect(world.control.messages().map(({ text }) => text)).toContain('Your table is ready')
})

test('the second example reads all messages', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send())
  await world.untilStatus(await world.send({ from: '+15555550999' }))
  await using program = run(READ, world)
  const { stdout } = await program.ended()
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').slice(1).join(' '))
  expect(lines).toEqual([`${TO} failed null`, `${TO} sent pending`, 'failed'])
})

test('the third example asks, and waits for the answer', async () => {
  await using world = await createWorld()
  await using program = run(ASK, world)
  await until(() => world.control.messages().some(({ text }) => text?.includes('Answer C')))
  await world.control.injectSms({ from: TO, to: FROM, text: ' C' })
  expect(await program.ended()).toMatchObject({ code: 0, stdout: 'Confirmed\n' })
})

test('the fourth example follows events, and goes on after a restart where it was', async () => {
  await using world = await createWorld()
  await using first = run(FOLLOW, world)
  // It misses nothing from then on, although it is connected some time later.
  await until(() => existsSync(folder.file('cursor')))
  await world.control.injectSms({ from: TO, to: FROM, text: 'Ready?' })
  await first.printed(/wrote: Ready\?\n/)
  const messageId = await world.send()
  await first.printed(new RegExp(`${messageId} is queued\\n${messageId} is sending\\n${messageId} is sent\\n`))
  await world.control.injectSms({ from: TO, to: FROM, text: 'Yes' })
  await first.printed(/\+15555550199 wrote: Yes\n/)
  const cursor = readFileSync(folder.file('cursor'), 'utf8')
  // The cursor follows within a second, and the example keeps it with the next event.
  await until(async () => {
    await world.control.injectSms({ from: TO, to: FROM, text: 'Hello?' })
    await Bun.sleep(100)
    return readFileSync(folder.file('cursor'), 'utf8') !== cursor
  })
  first.kill('SIGKILL')
  await first.ended()
  await world.control.injectSms({ from: TO, to: FROM, text: 'Are you there?' })
  await using second = run(FOLLOW, world)
  await second.printed(/wrote: Are you there\?\n/)
  expect(second.stdout).not.toContain('queued')
})

test('the fifth example accepts webhooks of the gateway and refuses others', async () => {
  await using world = await createWorld()
  const port = String(20_000 + Math.floor(Math.random() * 10_000))
  await using program = run(RECEIVE, world, { SGW_WEBHOOK_SECRET: world.app.webhookSecret, PORT: port })
  const url = `http://127.0.0.1:${port}/`
  const post = (): Promise<Response | null> => fetch(url, { method: 'POST', body: '{}' }).catch(() => null)
  const refused = await until(post)
  expect([refused.status, await refused.text()]).toEqual([401, 'The webhook has no signature'])
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: url } })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Yes' })
  await program.printed(/\+15555550199 wrote: Yes\n/)
})

test('the sixth example hears by a token, which it gets anew when the gateway has closed its socket', async () => {
  await using world = await createWorld()
  await using program = run(PAGE_OF_A_BROWSER, world)
  const hears = async (text: string): Promise<void> => {
    // It follows the events from its connection on, which is made some time later.
    await until(async () => {
      await world.control.injectSms({ from: TO, to: FROM, text })
      await Bun.sleep(50)
      return program.stdout.includes(`wrote: ${text}`)
    })
  }
  await hears('Ready?')
  world.gateway.sockets.closeAll(false)
  await hears('Again?')
})

test('the seventh example calls as an operator, and as an app', async () => {
  await using world = await createWorld()
  const { token } = await signIn(world)
  await using program = run(OPERATE, world, { SGW_OPERATOR_TOKEN: token, SGW_APP: world.app.appId })
  const { stdout, stderr } = await program.ended()
  expect([stdout, stderr]).toEqual(['[ "First" ]\nFirst app\n', ''])
})

/** Runs an example. */
function run(example: string | undefined, world: World, env: Record<string, string> = {}): PipedProgram {
  const file = folder.file('example.ts')
  writeFileSync(file, (example ?? '').replace('http://127.0.0.1:3000', world.url))
  const child = Bun.spawn([process.execPath, file], {
    cwd: folder.path,
    env: { ...BASE_ENVIRONMENT, NO_COLOR: '1', SGW_KEY: world.key, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return new PipedProgram(child)
}
