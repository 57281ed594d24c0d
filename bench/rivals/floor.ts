import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toContestantCore } from '../support/cores.ts'
import { type Circumstances, type Contestant, type Running, postRequest, requests } from './contestant.ts'
import { startProcess } from './process.ts'

/** Bun keeps this many connections alive. Every call beyond them dials again. */
const KEPT_ALIVE = 64

/** A bare Bun.serve that does the same work without storage. No durable design can be faster. */
export const floor = (maxCalls = KEPT_ALIVE): Contestant => ({
  name: 'floor, no storage',
  missing: () => null,
  start: (circumstances) => startBare('floor-server.ts', [], maxCalls, circumstances),
})

/** The same with two tables in raw libSQL and a flush before each 202: the limit of this disk and driver. */
export const durableFloor = (maxCalls = KEPT_ALIVE): Contestant => ({
  name: 'floor, raw libSQL',
  missing: () => null,
  async start(circumstances) {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-floor-'))
    const running = await startBare('durable-floor-server.ts', [join(folder, 'floor.db')], maxCalls, circumstances)
    const end = async (): Promise<void> => {
      await running[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
    return { ...running, [Symbol.asyncDispose]: end }
  },
})

async function startBare(
  script: string,
  words: readonly string[],
  maxCalls: number,
  { provider, env }: Circumstances,
): Promise<Running> {
  const own = [...words, provider.url, String(maxCalls)]
  // Bun allows 256 parallel calls by default.
  const calls = { BUN_CONFIG_MAX_HTTP_REQUESTS: String(Math.max(maxCalls, KEPT_ALIVE)) }
  const server = startProcess([process.execPath, join(import.meta.dir, script), ...own], { env: { ...calls, ...env } })
  const port = Number(await server.firstLine())
  toContestantCore(server.pid)
  return {
    port,
    pids: [server.pid],
    request: requests((message) => postRequest('/v1/sms/send', message)),
    stored: async () => Number(await (await fetch(`http://127.0.0.1:${port}/sent`)).text()),
    [Symbol.asyncDispose]: () => server.end(),
  }
}
