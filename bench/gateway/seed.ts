import { openGate } from '../../src/db/gate.ts'
import { cpuMs } from '../support/process-figures.ts'
import { seedRows } from '../support/seed-lists.ts'
import type { BenchGateway } from './bench-gateway.ts'

const DAY_MS = 86_400_000
const DAYS = 90
const OTHER_TENANTS = 9
const QUIET_MS = 5000
const WINDOW_MS = 500
/** An idle gateway takes well under 1 % of a core. */
const BUSY_SHARE = 0.1
const WITHIN_MS = 300_000

export interface Seed {
  count: number
  /** Number of the first one, for a second lot in the same database. */
  first?: number
  /** 0 to 1: the part of the bench's own tenant; other tenants get the rest. */
  share: number
}

/** Writes messages of the last 90 days into the database while the gateway is down: two writers would wait for each other. */
export async function seed(gateway: BenchGateway, { count, first = 0, share }: Seed): Promise<void> {
  await gateway.server.terminate()
  const gate = await openGate({
    url: `file:${gateway.databasePath}`,
    pragmas: ['synchronous = OFF', 'cache_size = -131072'],
  })
  const others = Array.from({ length: OTHER_TENANTS }, (_, n) => `tenant_${String(n).padStart(16, '0')}`)
  for (const id of others)
    await gate.execute(
      `INSERT OR IGNORE INTO tenants (id, name, status, created_at, updated_at) VALUES ('${id}', 'Other', 'active', 1, 1)`,
    )
  const until = Date.now() - 60_000
  const tenants = [gateway.tenantId, ...others]
  await seedRows(gate, { count, first, since: until - DAYS * DAY_MS, until, tenants, share, appId: gateway.appId })
  await gate.close()
  await gateway.start()
}

/**
 * Settles when the gateway has done the work that seeded rows cause in the background, such as an index for its lists;
 * answers how many seconds that took. From outside, it is done when it has been idle for five seconds.
 */
export async function settled(gateway: BenchGateway): Promise<number> {
  const startedAt = performance.now()
  let busyAt = startedAt
  await gateway.call('GET', '/v1/sms/messages')
  while (performance.now() - busyAt < QUIET_MS) {
    if (performance.now() - startedAt > WITHIN_MS) throw new Error('The gateway was still busy long after the seeding')
    const before = cpuMs(gateway.pid)
    await Bun.sleep(WINDOW_MS)
    if (cpuMs(gateway.pid) - before > WINDOW_MS * BUSY_SHARE) busyAt = performance.now()
  }
  return Math.round((busyAt - startedAt) / 100) / 10
}
