import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { seedRows } from './seed-lists.ts'

const DAY_MS = 86_400_000
const DAYS = 90
const TENANTS = Array.from({ length: 10 }, (_, n) => `tenant_${String(n).padStart(16, '0')}`)

/** Makes a database that has so many messages of the last 90 days, of ten tenants. Returns its size in bytes. */
export async function makeSeededDatabase(path: string, count: number): Promise<number> {
  mkdirSync(dirname(path), { recursive: true })
  const { gate, close } = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  for (const id of TENANTS)
    await gate.execute(
      `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('${id}', 'Seeded', 'active', 1, 1)`,
    )
  const until = Date.now() - 60_000
  const since = until - DAYS * DAY_MS
  await seedRows(gate, { count, since, until, tenants: TENANTS, share: 0.22, appId: 'app_0000000000000001' })
  await close()
  return statSync(path).size
}
