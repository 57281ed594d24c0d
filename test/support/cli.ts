import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { type Surroundings, runCommand } from '../../src/cli/run.ts'
import { BASE_ENVIRONMENT } from './environment.ts'
import type { Finished } from './program.ts'
import { until } from './world.ts'

const CLI = new URL('../../src/cli.ts', import.meta.url).pathname

/** The environment with which the command line finds the database of a folder. */
const environmentOf = (folder: string, more: Record<string, string> = {}): Record<string, string> => ({
  NODE_ENV: 'development',
  DATABASE_URL: `file:${join(folder, 'sgw.db')}`,
  ...more,
})

/** Runs `sgw` on the database of a folder, to its end. `stdin`: what it can read; a number is an open file. */
export const sgwIn = (
  folder: string,
  words: readonly string[],
  env: Record<string, string> = {},
  stdin: Blob | number | null = null,
): Promise<Finished> => runSgw(words, environmentOf(folder, env), { stdin: contentOf(stdin) })

/**
 * Runs `sgw <words>` to its end with this environment, PATH and HOME, in this process, because starting another one costs ten commands.
 * `around`: what differs from a script, such as a terminal. `sgw backup` has its own process (`sgw` in process.ts): it opens the file with a
 * second copy of SQLite, which would release the locks of a gateway in this process.
 */
export async function runSgw(
  words: readonly string[],
  env: Record<string, string | undefined>,
  around: Partial<Surroundings> = {},
): Promise<Finished> {
  if (words.includes('backup')) throw new Error('sgw backup needs a process of its own')
  const printed = { stdout: '', stderr: '' }
  const code = await runCommand({
    words,
    environment: { ...ENVIRONMENT, ...env },
    readFile: (path) => readFileSync(path, 'utf8'),
    terminal: false,
    columns: null,
    showsProgress: false,
    prompt: null,
    stdin: contentOf(null),
    stdout: (text) => void (printed.stdout += text),
    stderr: (text) => void (printed.stderr += text),
    start: () => Promise.reject(new Error('A server needs a process')),
    ...around,
  })
  return { code, ...printed }
}

/** Runs it as on a terminal with 80 columns, where a person types `typed` when asked. */
export async function sgwOnTerminal(
  words: readonly string[],
  env: Record<string, string>,
  typed?: string,
): Promise<{ code: number; screen: string }> {
  let screen = ''
  const show = (text: string): void => void (screen += text)
  const { code } = await runSgw(words, env, {
    terminal: true,
    columns: 80,
    showsProgress: true,
    prompt: async (question) => {
      if (typed === undefined) throw new Error(`It asks: ${question}`)
      show(`${question}${typed}\n`)
      return typed
    },
    stdin: null,
    stdout: show,
    stderr: show,
  })
  return { code, screen }
}

const ENVIRONMENT = { ...BASE_ENVIRONMENT, HOME: process.env['HOME'] ?? '' }

const contentOf = (stdin: Blob | number | null): AsyncIterable<Uint8Array> =>
  (typeof stdin === 'number' ? Bun.file(stdin) : (stdin ?? new Blob())).stream()

/** A command that runs until it is ended. A test can wait for its output. */
export interface RunningCli extends AsyncDisposable {
  stdout(): string
  stderr(): string
  /** Resolves with the first match in standard output or standard error. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
}

/** Starts `sgw` as a process. */
export function startSgw(folder: string, words: readonly string[], env: Record<string, string> = {}): RunningCli {
  const child = Bun.spawn([process.execPath, CLI, ...words], {
    env: { ...ENVIRONMENT, ...environmentOf(folder, env) },
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
