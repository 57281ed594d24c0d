import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seedRows } from '../../../bench/support/seed-lists.ts'
import { type Database, openDatabase } from '../../../src/db/database.ts'
import type { ListQuery } from '../../../src/db/lists/list.ts'

const TENANT = 'tenant_0000000000000001'
export const EVERYTHING: ListQuery = {
  list: 'messages',
  tenantId: TENANT,
  equal: {},
  prefix: null,
  since: 0,
  until: Number.MAX_SAFE_INTEGER,
  offset: 0,
  limit: 10,
  item: 'json_quote(messages.id)',
}

const TIMES = { since: Date.parse('2026-01-01'), until: Date.parse('2026-02-01') }

/** Inserts `count` messages of one tenant. */
const seedMessages = (database: Database, count: number): Promise<unknown> =>
  seedRows(database.gate, { count, ...TIMES, tenants: [TENANT], share: 1, appId: 'app_1' })

export interface Seeded extends AsyncDisposable {
  path: string
  database: Database
}

/** Creates a database in a file of its own, with `count` messages. */
export async function seededDatabase(count: number): Promise<Seeded> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-lists-'))
  const path = join(folder, 'sgw.db')
  const database = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  await database.gate.execute(
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('${TENANT}', 'One', 'active', 1, 1)`,
  )
  await seedMessages(database, count)
  return {
    path,
    database,
    [Symbol.asyncDispose]: async () => {
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
