import { join } from 'node:path'
import { toContestantCore } from '../support/cores.ts'
import { type Contestant, TO, postRequest, textOf } from './contestant.ts'
import { startProcess } from './process.ts'

const SERVER = join(import.meta.dir, 'floor-server.ts')
/** As many as Bun keeps alive: beyond that every call dials anew. */
const KEPT_ALIVE = 64

/** A bare Bun.serve that does the same job with no storage: the limit that no durable design can pass. */
export const floor = (lanes = KEPT_ALIVE): Contestant => ({
  name: 'floor, no storage',
  missing: () => null,
  async start({ provider, delivers, env }) {
    const words = delivers ? [provider.url, String(lanes)] : []
    // Bun's own limit is 256 calls.
    const own = { BUN_CONFIG_MAX_HTTP_REQUESTS: String(Math.max(lanes, KEPT_ALIVE)) }
    const server = startProcess([process.execPath, SERVER, ...words], { env: { ...own, ...env } })
    const port = Number(await server.firstLine())
    toContestantCore(server.pid)
    return {
      port,
      pids: [server.pid],
      request: (n) => postRequest('/v1/sms/send', { to: TO, from: '+15555550000', body: textOf(n) }),
      stored: async () => Number(await (await fetch(`http://127.0.0.1:${port}/sent`)).text()),
      [Symbol.asyncDispose]: () => server.end(),
    }
  },
})
