import { openSync } from 'node:fs'
import { BASE_ENVIRONMENT } from '../../test/support/environment.ts'
import { PROJECT } from '../../test/support/program.ts'

/** A child process. It is ended by its id when this process exits, at the latest. */
export interface TortureProgram {
  pid: number
  /** The exit code, or null if a signal ended it. */
  exited: Promise<number | null>
  hasEnded(): boolean
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void
}

export interface TortureProgramOptions {
  /** The arguments of `bun`. */
  args: string[]
  env: Record<string, string>
  /** The file to which its output is appended. */
  log: string
  /** Default: this project. */
  folder?: string
}

const live = new Set<TortureProgram>()

/** Starts `bun …args` in a folder of source code. */
export function startTortureProgram({ args, env, log, folder = PROJECT }: TortureProgramOptions): TortureProgram {
  const output = openSync(log, 'a')
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    env: { ...BASE_ENVIRONMENT, HOME: process.env['HOME'] ?? '', ...env },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
  })
  const program: TortureProgram = {
    pid: child.pid,
    exited: child.exited.then((code) => (child.signalCode === null ? code : null)),
    hasEnded: () => child.exitCode !== null,
    signal: (name) => child.kill(name),
  }
  live.add(program)
  void program.exited.then(() => live.delete(program))
  return program
}

/** Ends the children if this process exits early. */
process.on('exit', () => {
  for (const program of live) program.signal('SIGKILL')
})

/** Polls until there is an answer. Throws after `withinMs`. */
export async function eventually<T>(
  what: string,
  withinMs: number,
  ask: () => Promise<T | null> | T | null,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (performance.now() > deadline) throw new Error(`${what}: nothing within ${withinMs} ms`)
    await Bun.sleep(10)
  }
}
