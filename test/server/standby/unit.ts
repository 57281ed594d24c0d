import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT, finished } from '../../support/program.ts'
import { until } from '../../support/world.ts'
import type { MachineOfGateway } from './gateways.ts'

/** Lines of a shell block of the manual, without their comments; those that say so are for other machines. */
export interface ManualLine {
  command: string
  where: 'here' | 'every machine' | 'the other machines'
}

/** The lines of the shell blocks of a section of a page, in order. */
export function linesOf(page: string, heading: string): ManualLine[][] {
  const text = readFileSync(join(PROJECT, 'docs', page), 'utf8')
  const section = text.split(`\n${heading}\n`)[1]?.split(/\n#{2,3} /)[0] ?? ''
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block.split('\n').flatMap(lineOf))
}

function lineOf(line: string): ManualLine[] {
  const [command = '', comment = ''] = line.split(/(?:^|\s)# /)
  if (command.trim() === '') return []
  const where = (['every machine', 'the other machines'] as const).find((name) => comment.startsWith(`on ${name}`))
  // `sgwctl` is `sgw` with the variables of the unit, which `type` gives it.
  return [{ command: command.trim().replace(/^sgwctl /, 'sgw '), where: where ?? 'here' }]
}

/** A machine on which somebody types the lines of the manual: systemd's unit, its file of variables, and a shell. */
export class UnitMachine {
  readonly #file: string
  #isRunning = false
  /** The code with which the unit ended last. */
  code: number | null = null

  /** `variables`: those of `/etc/sgw.env` that the manual speaks of. */
  constructor(
    readonly machine: MachineOfGateway,
    variables: Readonly<Record<string, string>>,
  ) {
    this.#file = join(machine.deployment.folder, `${machine.name}.env`)
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(this.#file, lines.join(''))
  }

  /** What the gateway would be started with. */
  variables(): Record<string, string> {
    const lines = readFileSync(this.#file, 'utf8').trim().split('\n')
    return Object.fromEntries(lines.map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]))
  }

  /** Runs one line, and returns what it prints. A question is answered with yes. */
  async type(command: string): Promise<string> {
    const [program, ...words] = command.split(' ')
    if (program === 'systemctl') return this.#systemctl(words)
    const asked = command === 'sgw lease abandon' ? `${command} --yes` : command
    const line = asked.replaceAll('/etc/sgw.env', this.#file).replaceAll('/var/lib/sgw', this.machine.folder)
    const { code, stdout, stderr } = await finished(['sh', '-euc', line], this.machine.env(this.variables()))
    // The doctor ends with 1 if anything is wrong, such as an address that is only reachable from this machine.
    if (code !== 0 && !(code === 1 && command === 'sgw doctor'))
      throw new Error(`${command} ended with ${code}: ${stderr}${stdout}`)
    return stdout
  }

  async #systemctl(words: readonly string[]): Promise<string> {
    const unit = words.filter((word) => !word.startsWith('-'))
    if (unit.at(-1) !== 'sgw') throw new Error(`systemctl ${words.join(' ')} is not about sgw`)
    if (unit[0] === 'stop' || unit[0] === 'disable' || unit[0] === 'restart') await this.#stop()
    if (unit[0] === 'start' || unit[0] === 'enable' || unit[0] === 'restart') await this.#start()
    return ''
  }

  async #stop(): Promise<void> {
    if (!this.#isRunning) return
    this.code = await this.machine.stop()
    this.#isRunning = false
  }

  async #start(): Promise<void> {
    this.machine.start(this.variables())
    this.#isRunning = true
    await until(async () => (await this.machine.state()) !== null, 20_000)
  }
}

/** Types the lines on `here`, or on the machines that they name. Returns what each line printed on `here`. */
export async function typeAll(
  lines: readonly ManualLine[],
  here: UnitMachine,
  others: readonly UnitMachine[],
  before: (command: string) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const printed: string[] = []
  for (const { command, where } of lines) {
    await before(command)
    const machines = where === 'here' ? [here] : where === 'every machine' ? [here, ...others] : others
    const outputs = await Promise.all(machines.map((machine) => machine.type(command)))
    printed.push(outputs[0] ?? '')
  }
  return printed
}
