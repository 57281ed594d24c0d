import { $ } from 'bun'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, PROJECT, finished, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

// What docs/upgrade.md promises, with the executables that people have: one of each release, and the one of this tree.

/** 1.0.0 has no tag. The second is the oldest commit of main whose database every later version upgrades. */
const OLDEST = ['2cea006', 'c3f72dd']
const TAGS = (await $`git tag --list 'v*'`.cwd(PROJECT).text()).split('\n').filter((tag) => tag !== '')

const folder = temporaryFolder()
const current = folder.file('current/sgw')
afterAll(() => folder[Symbol.dispose]())
beforeAll(async () => {
  await build(PROJECT, folder.file('current'))
})

async function build(checkout: string, out: string): Promise<void> {
  const { code, stderr } = await finished([process.execPath, 'scripts/build.ts', '--out', out], {}, checkout)
  if (code !== 0) throw new Error(stderr)
}

/** Builds the executable of an earlier commit, from its own packages. */
async function buildEarlier(commit: string): Promise<string> {
  const [checkout, out] = [folder.file(`source-${commit}`), folder.file(`built-${commit}`)]
  mkdirSync(checkout)
  await $`git archive ${commit} | tar --extract --directory ${checkout}`.cwd(PROJECT).quiet()
  await $`${process.execPath} install --frozen-lockfile`.cwd(checkout).quiet()
  await build(checkout, out)
  rmSync(checkout, { recursive: true })
  return join(out, 'sgw')
}

/** A folder with the data of a gateway, which executables serve one after the other. */
class Machine {
  readonly port = freePort()
  readonly env: Record<string, string>
  #starts = 0

  constructor(readonly cwd: string) {
    const home = join(cwd, 'home')
    mkdirSync(home, { recursive: true })
    this.env = { PATH: '/usr/bin:/bin', HOME: home, PORT: String(this.port) }
  }

  data(name: string): string {
    return join(this.cwd, 'data', name)
  }

  program(executable: string): LoggedProgram {
    const log = join(this.cwd, `start-${++this.#starts}.log`)
    return new LoggedProgram({ command: [executable, 'start'], env: this.env, cwd: this.cwd, log })
  }

  /** Serves while `use` runs, then stops. */
  async serve(executable: string, use: () => Promise<void>): Promise<void> {
    await using program = this.program(executable)
    await program.serving(`http://127.0.0.1:${this.port}/health`, 20_000)
    await until(() => existsSync(this.data('development-api-key')), 10_000)
    await use()
    program.signal('SIGTERM')
    expect(await program.ended()).toBe(0)
  }

  async send(executable: string, text: string): Promise<void> {
    const words = ['--json', 'send', '--from', '+15555550100', '--to', '+15555550199', '--wait', text]
    const { stdout, stderr } = await finished([executable, ...words], this.env, this.cwd)
    expect(`${stdout}${stderr}`).toContain('"status":"sent"')
  }

  /** The texts of all messages, oldest first, with their states. */
  async messages(): Promise<string[]> {
    const key = readFileSync(this.data('development-api-key'), 'utf8').trim()
    const response = await fetch(`http://127.0.0.1:${this.port}/v1/sms/messages`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { messages } = (await response.json()) as { messages: { body: string; status: string }[] }
    return messages.map(({ body, status }) => `${body} ${status}`).toReversed()
  }
}

test.each([...OLDEST, ...TAGS])(
  'from %s the executable of this tree goes on with everything, and the copy leads back',
  async (commit) => {
    const earlier = await buildEarlier(commit)
    const machine = new Machine(folder.file(`machine-${commit}`))
    await machine.serve(earlier, () => machine.send(earlier, 'before'))
    await machine.serve(current, async () => {
      expect(await machine.messages()).toEqual(['before sent'])
      await machine.send(current, 'after')
      expect(await machine.messages()).toEqual(['before sent', 'after sent'])
    })
    const copy = readdirSync(machine.data('')).find((name) => /^sgw\.db\.before-\d{4}_\w+$/.test(name))
    if (copy === undefined)
      return expect(await $`git diff --stat ${commit} HEAD -- drizzle`.cwd(PROJECT).text()).toBe('')

    await using refused = machine.program(earlier)
    expect(await refused.ended()).toBe(78)
    expect(refused.output()).toContain('newer than this program')

    const commands = downgradeCommands().replace(/sgw\.db\.before-\w+/, copy)
    expect(await finished(['sh', '-euc', commands], {}, machine.data(''))).toMatchObject({ code: 0, stderr: '' })
    await machine.serve(earlier, async () => {
      expect(await machine.messages()).toEqual(['before sent'])
      await machine.send(earlier, 'back')
    })
    await machine.serve(current, async () => expect(await machine.messages()).toEqual(['before sent', 'back sent']))
  },
  60_000,
)

/** The commands of the page. */
function downgradeCommands(): string {
  const [, section = ''] = readFileSync(join(PROJECT, 'docs/upgrade.md'), 'utf8').split('## Downgrade')
  return /```sh\n([^]*?)```/.exec(section)?.[1] ?? 'false'
}
