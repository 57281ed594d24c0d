import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../src/db/database.ts'
import { openGate } from '../src/db/gate.ts'
import { migrate } from '../src/db/migrate.ts'
import { MIGRATIONS } from '../src/db/migrations.ts'
import { deleteMessages } from '../src/messages/upkeep/delete-messages.ts'
import { ROWS_PER_BATCH } from '../src/db/batches.ts'
import type { Gateway } from '../src/messages/gateway.ts'
import { writeManyMessages } from '../test/support/many-messages.ts'
import type { Bench, Row } from './bench.ts'
import { percentile } from './support/percentile.ts'

const MESSAGES = 200_000
const BATCHES = 200
const PAUSE_MS = 20
const TENANT = 'tenant_0000000000000001'

export const purge: Bench = { name: 'purge', run: runPurge }

/** How long a batch of a retention purge or an erasure blocks the event loop, on a large database. */
async function runPurge(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-purge-'))
  try {
    const database = await filled(join(folder, 'sgw.db'))
    const { rows } = await database.gate.execute(
      `SELECT id FROM messages ORDER BY seq LIMIT ${BATCHES * ROWS_PER_BATCH}`,
    )
    const times: number[] = []
    for (let batch = 0; batch < BATCHES; batch++) {
      times.push(
        await timed(
          database,
          rows.splice(0, ROWS_PER_BATCH).map((row) => String(row['id'])),
        ),
      )
      await Bun.sleep(PAUSE_MS)
    }
    await database.close()
    return [row(times.toSorted((a, b) => a - b))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const row = (sorted: readonly number[]): Row => ({
  case: `${BATCHES} batches of ${ROWS_PER_BATCH} messages of ${MESSAGES}`,
  'p50 ms': percentile(sorted, 0.5).toFixed(1),
  'p95 ms': percentile(sorted, 0.95).toFixed(1),
  'max ms': (sorted.at(-1) ?? 0).toFixed(1),
  bar: '≤ 20 ms',
})

async function timed(database: Database, ids: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  await deleteMessages({ database } as Gateway, ids)
  return performance.now() - startedAt
}

async function filled(path: string): Promise<Database> {
  const gate = await openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL', 'synchronous = OFF'] })
  await migrate(gate, MIGRATIONS)
  const tenant = `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('${TENANT}', 'Bench', 'active', 1, 1)`
  await gate.execute(tenant)
  const since = Date.parse('2026-01-01T00:00:00Z')
  await writeManyMessages(gate, { count: MESSAGES, since, tenantId: TENANT, appId: 'app_0000000000000001' })
  await gate.close()
  return openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
}
