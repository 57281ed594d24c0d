import { openSync } from 'node:fs'
import { BASE_ENVIRONMENT } from '../../test/support/environment.ts'

/** A child process. Whatever becomes of this one, it is ended by its own id. */
export interface Program {
  pid: number
  /** The exit code; null when a signal ended it. */
  exited: Promise<number | null>
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void
}

export interface ProgramOptions {
  /** What follows `bun`. */
  args: string[]
  env: Record<string, string>
  /** Everything that it prints is appended here. */
  log: string
  /** The project's own folder if absent. */
  folder?: string
}

export const PROJECT = new URL('../..', import.meta.url).pathname
const live = new Set<Program>()

/** Starts `bun …args` in a folder of source code. */
export function startProgram({ args, env, log, folder = PROJECT }: ProgramOptions): Program {
  const output = openSync(log, 'a')
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    env: { ...BASE_ENVIRONMENT, HOME: process.env['HOME'] ?? '', ...env },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
  })
  const program: Program = {
    pid: child.pid,
    exited: child.exited.then((code) => (child.signalCode === null ? code : null)),
    signal: (name) => child.kill(name),
  }
  live.add(program)
  void program.exited.then(() => live.delete(program))
  return program
}

/** Nobody is left behind when this process ends early. */
process.on('exit', () => {
  for (const program of live) program.signal('SIGKILL')
})

/** A free port below those that the system gives to outgoing connections: it must be free again after each kill. */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
      return port
    } catch {
      // Taken: draw another one.
    }
  }
}

/** Asks again and again until there is an answer. Throws after `withinMs`. */
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
