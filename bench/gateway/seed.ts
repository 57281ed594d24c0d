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
  /** The number of the first message, for a second run on the same database. */
  first?: number
  /** The share of the bench's own tenant, from 0 to 1. Other tenants get the rest. */
  share: number
}

/**
 * Writes messages of the last 90 days into the database. The gateway is stopped meanwhile, because two writers would
 * wait for each other.
 */
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
 * Resolves when the gateway has finished its background work on seeded rows, such as compaction, and returns the seconds
 * that it took. The work counts as finished when the process has been idle for five seconds.
 */
export async function untilIdle(gateway: BenchGateway): Promise<number> {
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
