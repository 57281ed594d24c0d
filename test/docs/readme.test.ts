import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASE_ENVIRONMENT } from '../support/environment.ts'
import { PipedProgram, temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'
import { FROM, TO, createWorld, until } from '../support/world.ts'

// These tests run what README.md shows, unchanged but for the address of the gateway. test/docs/quickstart.long.ts runs the start.

const PAGE = readFileSync(join(PROJECT, 'README.md'), 'utf8')
const blocksOf = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block = '']) => block)
const [, , SEND = ''] = blocksOf('sh')
const [CLIENT = '', KIT = ''] = blocksOf('ts')

/** Runs the TypeScript in a project that has sgw installed. */
function run(example: string, folder: ReturnType<typeof temporaryFolder>, env: Record<string, string>): PipedProgram {
  mkdirSync(folder.file('node_modules'))
  symlinkSync(PROJECT, folder.file('node_modules/sgw'))
  writeFileSync(folder.file('hello.ts'), example)
  const child = Bun.spawn([process.execPath, 'run', 'hello.ts'], {
    cwd: folder.path,
    env: { ...BASE_ENVIRONMENT, NO_COLOR: '1', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return new PipedProgram(child)
}

test('the lines for a shell send a text', async () => {
  await using world = await createWorld()
  using folder = temporaryFolder()
  writeFileSync(folder.file('key'), world.key)
  const lines = SEND.replace('http://127.0.0.1:3000', world.url).replace('data/development-api-key', folder.file('key'))
  const { code, stdout } = await finished(['sh', '-euc', lines], {})
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\{"messageId":"msg_\w+","status":"queued"\}$/)])
  await until(() => world.control.messages().some(({ text }) => text === 'Hello from sgw'))
})

test('the program sends a text, and prints the answer to it', async () => {
  await using world = await createWorld()
  using folder = temporaryFolder()
  await using program = run(CLIENT.replace('http://127.0.0.1:3000', world.url), folder, { SGW_KEY: world.key })
  await until(() => world.control.messages().some(({ text }) => text?.startsWith('Hello from TypeScript') === true))
  await world.control.injectSms({ from: TO, to: FROM, text: 'Yes' })
  await program.printed(/^\+15555550199 wrote Yes\n/)
})

test('the lines for a test start a gateway, and the phone gets the text', async () => {
  using folder = temporaryFolder()
  const phone = "console.log(gateway.phone('+15555550199').inbox.map(({ text }) => text).join())\n"
  await using program = run(`${KIT}${phone}`, folder, {})
  expect(await program.ended()).toMatchObject({ code: 0, stdout: 'Your code is 4711\n', stderr: '' })
})

test('the manual of the README lists every page of docs', () => {
  const manual = PAGE.slice(PAGE.indexOf('## The manual'))
  const pages = readdirSync(join(PROJECT, 'docs')).filter((name) => name.endsWith('.md'))
  expect(pages.filter((name) => !manual.includes(`](docs/${name})`))).toEqual([])
})
