import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toContestantCore } from '../support/cores.ts'
import { freePort } from '../../test/support/program.ts'
import { eventually } from '../torture/program.ts'
import { type Contestant, postRequest, requests } from './contestant.ts'
import { SMS_PATH } from './provider.ts'
import { type Process, listening, startProcess } from './process.ts'

const SOURCES = join(import.meta.dir, 'bullmq')
const MANIFEST = join(SOURCES, 'package.json')
/** The folder is kept for the next run. Without a prebuilt binary, installing compiles for a minute. */
const FOLDER = join(tmpdir(), `sgw-bench-bullmq-${Bun.hash(readFileSync(MANIFEST)).toString(36)}`)
const START_MS = 10_000
const CALLS_AT_ONCE = 256

/**
 * Express, BullMQ, Redis (`appendfsync always`) and SQLite (`synchronous = FULL`), all on Node. Both commits are
 * durable.
 */
export const bullmq: Contestant = {
  name: 'Express + BullMQ + Redis + SQLite',
  missing() {
    if (!Bun.which('redis-server')) return 'apt-get install redis-server'
    if (!Bun.which('node') || !Bun.which('npm')) return 'apt-get install nodejs npm'
    return existsSync(join(FOLDER, 'node_modules')) ? null : 'bun run bench --install-rivals (npm)'
  },
  async start({ provider, env }) {
    await using started = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-redis-'))
    started.defer(() => rmSync(folder, { recursive: true, force: true }))
    const redisPort = freePort()
    const redis = startProcess(['redis-server', ...redisSettings(redisPort, folder)], { cwd: folder, env })
    started.defer(() => redis.end())
    await eventually('The start of Redis', START_MS, () => listening(redisPort))
    const node = startServer([join(folder, 'messages.db'), String(redisPort), `${provider.url}${SMS_PATH}`], env)
    started.defer(() => node.end())
    const port = Number(await node.firstLine())
    for (const { pid } of [redis, node]) toContestantCore(pid)
    const ended = started.move()
    return {
      port,
      pids: [redis.pid, node.pid],
      request: requests((message) => postRequest('/send', message)),
      stored: async () => Number(await (await fetch(`http://127.0.0.1:${port}/sent`)).text()),
      [Symbol.asyncDispose]: () => ended.disposeAsync(),
    }
  },
}

/** Installs the packages of `bullmq/package.json` in a folder of their own. */
export function installBullmq(): void {
  cpSync(MANIFEST, join(FOLDER, 'package.json'))
  const command = ['npm', 'install', '--no-audit', '--no-fund']
  const done = Bun.spawnSync(command, { cwd: FOLDER, stdout: 'inherit', stderr: 'inherit' })
  if (!done.success) rmSync(FOLDER, { recursive: true, force: true })
}

/** API and worker share a process, which is faster than two processes on one core. */
function startServer(words: string[], env: Record<string, string>): Process {
  cpSync(join(SOURCES, 'server.mjs'), join(FOLDER, 'server.mjs'))
  const command = ['node', 'server.mjs', ...words, String(CALLS_AT_ONCE)]
  return startProcess(command, { cwd: FOLDER, env: { NODE_ENV: 'production', ...env } })
}

/** With these settings, Redis answers after the write is on disk, and no snapshot or rewrite disturbs the measurement. */
const redisSettings = (port: number, folder: string): string[] =>
  [
    `--bind 127.0.0.1 --port ${port} --dir ${folder} --save`,
    '--appendonly yes --appendfsync always --auto-aof-rewrite-percentage 0',
  ].flatMap((line) => line.split(' '))
