import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Row } from './row.ts'

const ROOT = resolve(import.meta.dir, '..')
const STARTS = 10
const IDLE_MS = 5000
const GIVE_UP_MS = 20_000

/** What no start can beat: a server of Bun's that answers and does nothing else. */
const FLOOR = `Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: () => new Response('ok') })`
/** Against a provider's account the built-in simulator is not loaded. */
const REAL_PROVIDER = {
  RC_CLIENT_ID: 'bench-client',
  RC_CLIENT_SECRET: 'bench-client-key',
  RC_SERVER_URL: 'http://127.0.0.1:9',
}

interface Started {
  child: Bun.Subprocess
  /** From the spawn to the first 200 of /health. */
  tookMs: number
}

/** Start to the first answer, on a new and on an existing database, and the memory of an idle server. */
export async function benchStart(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-'))
  const env = (name: string): Record<string, string> => ({ DATABASE_URL: `file:${join(folder, name, 'sgw.db')}` })
  try {
    return [
      await startTimes('bare Bun server', () => start({}, ['-e', FLOOR])),
      await startTimes('new database', (turn) => start(env(`fresh-${turn}`))),
      await startTimes('existing database', () => start(env('fresh-0'))),
      { case: 'idle after 5 s, with the simulator', 'RSS MiB': await idleRss(env('idle')) },
      { case: 'idle after 5 s, real provider', 'RSS MiB': await idleRss({ ...env('idle-real'), ...REAL_PROVIDER }) },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startTimes(name: string, startOne: (turn: number) => Promise<Started>): Promise<Row> {
  const times: number[] = []
  const cpu: number[] = []
  for (let turn = 0; turn < STARTS; turn++) {
    const { child, tookMs } = await startOne(turn)
    await end(child)
    times.push(tookMs)
    cpu.push(Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000)
  }
  return {
    case: name,
    'median ms': median(times),
    'best ms': Math.min(...times),
    'worst ms': Math.max(...times),
    'CPU ms': Math.round(median(cpu)),
  }
}

/** Linux only; elsewhere 0. */
async function idleRss(env: Record<string, string>): Promise<number> {
  const { child } = await start(env)
  try {
    await Bun.sleep(IDLE_MS)
    const status = await Bun.file(`/proc/${child.pid}/status`)
      .text()
      .catch(() => '')
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
  } finally {
    await end(child)
  }
}

async function start(env: Record<string, string>, words: readonly string[] = ['src/main.ts']): Promise<Started> {
  const port = await freePort()
  const started = performance.now()
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: String(port), LOG_LEVEL: 'error', ...env },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  while (performance.now() - started < GIVE_UP_MS) {
    const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    if (response?.status === 200) return { child, tookMs: Math.round(performance.now() - started) }
    await Bun.sleep(2)
  }
  await end(child)
  throw new Error(`No answer within ${GIVE_UP_MS} ms`)
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  return port ?? 0
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
