import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { BASE_ENVIRONMENT } from './environment.ts'
import { type Finished, finished } from './program.ts'
import { until } from './world.ts'

const CLI = new URL('../../src/cli.ts', import.meta.url).pathname

/** The environment with which the command line finds the database of a folder. */
const environmentOf = (folder: string, more: Record<string, string> = {}): Record<string, string> => ({
  ...BASE_ENVIRONMENT,
  HOME: process.env['HOME'] ?? '',
  NODE_ENV: 'development',
  DATABASE_URL: `file:${join(folder, 'sgw.db')}`,
  ...more,
})

/** Runs `sgw` on the database of a folder, to its end. `stdin`: what it can read; a number is an open file. */
export const sgwIn = (
  folder: string,
  args: string[],
  env: Record<string, string> = {},
  stdin: Blob | number | 'ignore' = 'ignore',
): Promise<Finished> => finished([process.execPath, CLI, ...args], environmentOf(folder, env), undefined, stdin)

/** A command that runs until it is ended. A test can wait for its output. */
export interface RunningCli extends AsyncDisposable {
  stdout(): string
  stderr(): string
  /** Resolves with the first match in standard output or standard error. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
}

export function startSgw(folder: string, args: string[], env: Record<string, string> = {}): RunningCli {
  const child = Bun.spawn([process.execPath, CLI, ...args], {
    env: environmentOf(folder, env),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const out = collect(child.stdout)
  const err = collect(child.stderr)
  return {
    stdout: out,
    stderr: err,
    printed: (pattern) => until(() => pattern.exec(out()) ?? pattern.exec(err())),
    [Symbol.asyncDispose]: () => end(child),
  }
}

function collect(stream: ReadableStream<Uint8Array>): () => string {
  let text = ''
  const decoder = new TextDecoder()
  void (async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true })
  })()
  return () => text
}

async function end(child: Subprocess): Promise<void> {
  child.kill()
  await child.exited
}
