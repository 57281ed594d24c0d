#!/usr/bin/env bun
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { exemptThisMachine } from './core/proxy.ts'
import { protectFiles } from './db/data-folder.ts'
import { commandName, runCommand } from './cli/run.ts'

/** Exit code of a command whose reader has left, as if SIGPIPE had ended it. */
const READER_LEFT = 141

process.exitCode = await main(process.argv.slice(2))

function main(words: string[]): Promise<number> {
  protectFiles()
  exemptThisMachine(process.env)
  endWithReader(words)
  const { stdin, stdout, stderr } = process
  return runCommand({
    words,
    environment: process.env,
    readFile,
    terminal: stdout.isTTY,
    columns: stdout.isTTY ? stdout.columns || 80 : null,
    showsProgress: stderr.isTTY,
    prompt: stdin.isTTY && stderr.isTTY ? prompt : null,
    stdin: stdin.isTTY ? null : stdin,
    stdout: (text) => void stdout.write(text),
    stderr: (text) => void stderr.write(text),
    start,
  })
}

/** Ends a command whose reader has left, as in `sgw messages list | head -1`. A server continues without its log. */
function endWithReader(words: readonly string[]): void {
  if (commandName(words) === 'start') return
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(READER_LEFT)
    })
}

/** Runs `sgw start`. Resolves when the server listens; the process then runs until a signal. */
async function start(isTest: boolean): Promise<void> {
  const { serve } = await import('./server/serve.ts')
  return serve({
    environment: { values: process.env, readFile },
    terminal: process.stdout.isTTY,
    isTest,
    exit: (code) => process.exit(code),
  })
}

/** Asks on standard error, because standard output is for the result only. */
async function prompt(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}

function readFile(path: string): string {
  return readFileSync(path, 'utf8')
}
