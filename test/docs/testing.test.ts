import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished, freePort } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/testing.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code)

/** `bun` is found under its name. */
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`

/** A busy machine may start a gateway for longer than the five seconds that the runners give a test. */
const PATIENCE_MS = 50_000
const BUN_TEST = [process.execPath, 'test', '--timeout', String(PATIENCE_MS)]

test('the run in CI starts the server, sends, looks at the phone, answers and stops', async () => {
  const script = readFileSync(join(PROJECT, 'examples/ci.sh'), 'utf8').replaceAll('3999', String(freePort()))
  const { code, stdout, stderr } = await finished(['sh', '-c', script], { PATH, HOME: process.env['HOME'] ?? '' })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
  expect(stdout).toContain('"status":"queued"')
  expect(stdout).toMatch(/pid +\d+/)
}, 120_000)

test('the lines that start the server lead to its key', async () => {
  using folder = temporaryFolder()
  const lines = (blocks('sh').find((block) => block.includes('start --test')) ?? '')
    .replaceAll('3999', String(freePort()))
    .replaceAll('/tmp/sgw-test', folder.file('new'))
  const script = `${lines}\necho "key $KEY"\nDATABASE_URL=file:${folder.file('new/sgw.db')} bun run sgw stop`
  const { code, stdout } = await finished(['sh', '-euc', script], { PATH, HOME: process.env['HOME'] ?? '' })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/key sgw_.{43}$/m) })
}, 120_000)

test('the tests with the kit, and with another provider, pass in a project that has sgw installed', async () => {
  using folder = temporaryFolder()
  mkdirSync(folder.file('node_modules'))
  symlinkSync(PROJECT, folder.file('node_modules/sgw'))
  const [example = '', webhook = ''] = blocks('ts')
  writeFileSync(folder.file('patient.test.ts'), example.replace("await patient.reply('C')\n", `$&\n${webhook}`))
  writeFileSync(folder.file('queue.test.ts'), blocks('ts').find((block) => block.includes('addQueue')) ?? '')
  const { code, stderr } = await finished(BUN_TEST, {}, folder.path)
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/ 2 pass\n[^]* across 2 files/) })
}, 60_000)

/** A folder with the files of an example; `sgw` is found there. */
function copyOf(example: string, files: string[]): ReturnType<typeof temporaryFolder> {
  const folder = temporaryFolder()
  for (const file of files) copyFileSync(join(PROJECT, 'examples', example, file), folder.file(file))
  return folder
}

/** `npx` is a process of its own: a signal ends it, and not the gateway that it has started. This script does the same. */
function envOf(starter: string, folder: ReturnType<typeof temporaryFolder>): Record<string, string> {
  const direct = `bun ${join(PROJECT, 'src/cli.ts')}`
  writeFileSync(folder.file('npx'), `${direct} "$@"\nexit $?\n`)
  return { PATH, HOME: process.env['HOME'] ?? '', SGW: starter === 'npx' ? `sh ${folder.file('npx')}` : direct }
}

// pytest is not needed to develop sgw, so a machine without it leaves its test out.
const hasPytest = Bun.spawnSync(['python3', '-m', 'pytest', '--version'], { env: { ...process.env } }).exitCode === 0

test.if(Bun.which('python3') !== null && hasPytest).each(['bun', 'npx'])(
  'the fixture and the tests for pytest pass as they stand there, and the gateway that %s has started ends',
  async (starter) => {
    using folder = copyOf('pytest', ['conftest.py', 'test_reminder.py', 'test_webhook.py'])
    writeFileSync(folder.file('test_page.py'), blocks('python')[0] ?? '')
    const { code, stdout } = await finished(
      ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'],
      envOf(starter, folder),
      folder.path,
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('6 passed') })
  },
  120_000,
)

// The names of Vitest are known to Bun's own runner, too. Where Vitest is installed, it runs them as well.
const VITEST = Bun.which('vitest')
const RUNNERS = [
  { runner: 'Bun', starter: 'bun', command: BUN_TEST },
  { runner: 'Bun', starter: 'npx', command: BUN_TEST },
  ...(VITEST === null
    ? []
    : [
        {
          runner: 'Vitest',
          starter: 'bun',
          command: [VITEST, 'run', '--root', '.', `--testTimeout=${PATIENCE_MS}`, `--hookTimeout=${PATIENCE_MS}`],
        },
      ]),
]

test.each(RUNNERS)(
  'the fixture and the tests for Vitest pass as they stand there, run by $runner with a gateway of $starter',
  async ({ command, starter }) => {
    using folder = copyOf('vitest', ['gateway.mjs', 'reminder.test.mjs'])
    const { code, stdout, stderr } = await finished(command, envOf(starter, folder), folder.path)
    expect({ code, output: stdout + stderr }).toEqual({ code: 0, output: expect.stringMatching(/3 pass/) })
  },
  120_000,
)
