import { join } from 'node:path'
import { type World, createWorld } from '../test/support/world.ts'
import type { Bench, Row } from './bench.ts'

const SOCKETS = 2000
const HEALTH_EVERY_MS = 10
const QUIET_MS = 5000

export const silentSockets: Bench = { name: 'silent sockets', run: runSilentSockets }

/** Opens 2,000 sockets that never authenticate. Measures when each is closed, and the latency of `/health` in the meantime. */
async function runSilentSockets(): Promise<Row[]> {
  await using world = await createWorld({ connect: false, work: false, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const quietUntil = performance.now() + QUIET_MS
  const quiet = await healthTimes(world, () => performance.now() < quietUntil)
  const clients = Bun.spawn(['bun', join(import.meta.dir, 'support/silent-clients.ts'), world.url, String(SOCKETS)], {
    stdout: 'pipe',
  })
  const busy = await healthTimes(world, () => clients.exitCode === null)
  const lives = (await new Response(clients.stdout).json()) as (number | null)[]
  const opened = lives.filter((life) => life !== null)
  return [
    { case: 'quiet', ...healthRow(quiet) },
    {
      case: `${SOCKETS} silent sockets`,
      ...healthRow(busy),
      'refused at once': SOCKETS - opened.length,
      'longest life ms': Math.round(Math.max(...opened)),
      'left open': world.gateway.sockets.count,
    },
  ]
}

async function healthTimes(world: World, goesOn: () => boolean): Promise<number[]> {
  const times: number[] = []
  while (goesOn()) {
    const startedAt = performance.now()
    await (await world.call('GET', '/health', { key: null })).text()
    times.push(performance.now() - startedAt)
    await Bun.sleep(HEALTH_EVERY_MS)
  }
  return times.toSorted((a, b) => a - b)
}

const healthRow = (times: number[]): Row => ({
  'health p50 ms': (times[times.length >> 1] ?? 0).toFixed(1),
  'health p99 ms': (times[Math.floor(times.length * 0.99)] ?? 0).toFixed(1),
  'health worst ms': (times.at(-1) ?? 0).toFixed(1),
})
