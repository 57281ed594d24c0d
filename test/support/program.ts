import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASE_ENVIRONMENT } from './environment.ts'
import { until } from './world.ts'

/** The project's folder. */
export const PROJECT = join(import.meta.dir, '../..')

export interface LoggedProgramOptions {
  command: string[]
  env: Record<string, string>
  /** The working folder. Default: the project's folder. */
  cwd?: string
  /** The file for its output. */
  log: string
}

/** A child process of a test. It is killed when it is disposed of, at the latest. */
export class LoggedProgram implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'ignore', number, number>

  constructor(readonly options: LoggedProgramOptions) {
    const { command, env, cwd = PROJECT, log } = options
    // Both streams share one file position, because otherwise they would overwrite each other's lines.
    const output = openSync(log, 'a')
    this.#child = Bun.spawn(command, {
      cwd,
      env: { ...BASE_ENVIRONMENT, ...env },
      stdin: 'ignore',
      stdout: output,
      stderr: output,
    })
    closeSync(output)
  }

  get pid(): number {
    return this.#child.pid
  }

  /** The exit code, or null if a signal ended it. */
  async ended(): Promise<number | null> {
    await this.#child.exited
    return this.#child.exitCode
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#child.exited
  }

  output(): string {
    return readFileSync(this.options.log, 'utf8')
  }

  /** Waits until the address answers 200. Throws with the output if the program ends first. */
  async serving(url: string, withinMs = 30_000): Promise<void> {
    await until(async () => {
      if (this.#child.exitCode !== null) throw new Error(`It ended with ${this.#child.exitCode}: ${this.output()}`)
      return (await fetch(url, { keepalive: false }).catch(() => null))?.ok === true
    }, withinMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

/** The output and the exit code of a program. */
export interface Finished {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command to its end. `stdin`: what it can read. */
export async function finished(
  command: string[],
  env: Record<string, string>,
  cwd: string = PROJECT,
  stdin: Blob | number | 'ignore' = 'ignore',
): Promise<Finished> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...BASE_ENVIRONMENT, ...env },
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

/** Ports that this process has used already: a program that is still starting does not hold its own yet. */
const usedPorts = new Set<number>()

/** Finds a free port below the range for outgoing connections, so that it is free again after a restart. Never the same twice. */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (usedPorts.has(port)) continue
    usedPorts.add(port)
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      return port
    } catch {
      // The port is taken.
    }
  }
}
