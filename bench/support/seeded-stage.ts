import { Database } from 'bun:sqlite'
import { openGate } from '../../src/db/gate.ts'
import { Stage } from '../torture/stage.ts'
import { eventually } from '../torture/program.ts'
import { seedRows } from './seed-lists.ts'

const DAY_MS = 86_400_000
const DAYS = 90
const OTHER_TENANTS = 9
const COMPACTED_WITHIN_MS = 120_000

/** A gateway whose database has so many messages; `share` of them are of the stage's own tenant. */
export async function openSeededStage(count: number, share: number): Promise<Stage> {
  const stage = await Stage.open({ extensions: 1, numbersPerExtension: 1, env: { PROVIDER_TIMEOUT: '15s' } })
  try {
    await stage.control.setLimits({ enabled: false })
    await seed(stage, count, share)
    return stage
  } catch (error) {
    await stage[Symbol.asyncDispose]()
    throw error
  }
}

/** While the gateway is down, as two writers would only wait for each other. */
export async function seed(stage: Stage, count: number, share: number, first = 0): Promise<void> {
  await stage.gateway.terminate()
  const path = stage.databasePath
  const gate = await openGate({
    url: `file:${path}`,
    pragmas: ['synchronous = OFF', 'cache_size = -131072'],
  })
  const { rows } = await gate.execute('SELECT id AS app, tenant_id AS tenant FROM apps')
  const others = Array.from({ length: OTHER_TENANTS }, (_, n) => `tenant_${String(n).padStart(16, '0')}`)
  for (const id of others)
    await gate.execute(
      `INSERT OR IGNORE INTO tenants (id, name, status, created_at, updated_at) VALUES ('${id}', 'Other', 'active', 1, 1)`,
    )
  const until = Date.now() - 60_000
  await seedRows(gate, {
    count,
    first,
    since: until - DAYS * DAY_MS,
    until,
    tenants: [String(rows[0]?.['tenant']), ...others],
    share,
    appId: String(rows[0]?.['app']),
  })
  await gate.close()
  await stage.gateway.start()
}

/** Waits until nearly all rows are in segments; returns how long that took, in milliseconds. */
export async function compacted(stage: Stage): Promise<number> {
  const startedAt = performance.now()
  const database = new Database(stage.databasePath, { readonly: true })
  const sql = `SELECT coalesce(sum(row_count), 0) AS n FROM list_segments WHERE list = 'messages'`
  const count = (from: string): number => database.query<{ n: number }, []>(from).get()?.n ?? 0
  const total = count('SELECT count(*) AS n FROM messages')
  await stage.call('GET', '/v1/sms/messages')
  await eventually('Compaction', COMPACTED_WITHIN_MS, () => Promise.resolve(count(sql) > total * 0.99 ? true : null))
  database.close()
  return performance.now() - startedAt
}
