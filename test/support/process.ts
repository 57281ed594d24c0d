import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Subprocess } from 'bun'
import { BASE_ENVIRONMENT } from './environment.ts'
import { type Finished, freePort } from './program.ts'
import { until } from './world.ts'

const ROOT = resolve(import.meta.dir, '../..')

type Environment = Record<string, string | undefined>

/** Creates an empty folder that is deleted with the test: `using folder = temporaryFolder()`. */
export function temporaryFolder(): Disposable & { path: string; file(name: string): string; database: string } {
  const path = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const file = (name: string): string => join(path, name)
  return {
    path,
    file,
    database: `file:${file('sgw.db')}`,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** A program of this project as a real process. It is killed when it is disposed of, at the latest. */
export class PipedProgram implements AsyncDisposable {
  #stdout = ''
  #stderr = ''
  readonly #read: Promise<unknown>

  constructor(readonly child: Subprocess<'ignore' | Blob, 'pipe', 'pipe'>) {
    const gather = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> => {
      const decoder = new TextDecoder()
      for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }))
    }
    this.#read = Promise.all([
      gather(child.stdout, (text) => (this.#stdout += text)),
      gather(child.stderr, (text) => (this.#stderr += text)),
    ])
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Waits for its end. */
  async ended(): Promise<Finished> {
    const code = await this.child.exited
    await this.#read
    return { code, stdout: this.#stdout, stderr: this.#stderr }
  }

  /** Waits for matching output. */
  printed(pattern: RegExp, withinMs = 20_000): Promise<RegExpExecArray> {
    return until(() => {
      const found = pattern.exec(this.#stdout)
      if (found === null && this.child.exitCode !== null)
        throw new Error(`It ended with ${this.child.exitCode}: ${this.#stderr}`)
      return found
    }, withinMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

/** Starts `bun <file> <words>` with exactly this environment, PATH and HOME. */
export function startProgram(
  file: string,
  words: readonly string[] = [],
  env: Environment = {},
  cwd = ROOT,
): PipedProgram {
  const child = Bun.spawn([process.execPath, resolve(ROOT, file), ...words], {
    cwd,
    env: { ...BASE_ENVIRONMENT, HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'], NO_COLOR: '1', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return new PipedProgram(child)
}

/** Starts a server as an operator does: `await using server = await startServer({ DATABASE_URL })`. */
export async function startServer(env: Environment): Promise<PipedProgram & { url: string; port: number }> {
  const port = Number(env['PORT'] ?? freePort())
  const program = startProgram('src/main.ts', [], { PORT: String(port), ...env })
  const url = `http://127.0.0.1:${port}`
  try {
    await until(async () => {
      if (program.child.exitCode !== null)
        throw new Error(`The server ended with ${program.child.exitCode}: ${program.stderr}`)
      return (await fetch(`${url}/health`).catch(() => null))?.ok
    }, 20_000)
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
  return Object.assign(program, { url, port })
}

/** Runs `sgw <words>` to its end. */
export async function sgw(words: readonly string[], env: Environment): Promise<Finished> {
  await using program = startProgram('src/cli.ts', words, env)
  return await program.ended()
}

/** Returns the rejection of a promise, or null if it was fulfilled. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  )
