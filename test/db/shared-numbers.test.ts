import { expect, test } from 'bun:test'
import { type Gate, openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'

const NAME = '0022_numbers_of_several'
const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === NAME),
)
/** Of each of two extensions. */
const NUMBERS = 2000

async function openBefore(path: string): Promise<Gate> {
  const gate = await openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL', 'foreign_keys = ON'] })
  await migrate(gate, BEFORE)
  await gate.batch([
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('t', 'Tenant', 'active', 1, 1)`,
    ...['one', 'two'].flatMap((extension) => [
      `INSERT INTO extensions (tenant_id, extension_id, account_id, status, connected_at, access_token, access_expires_at,
        refresh_token, refresh_expires_at, refreshed_at, numbers_read_at) VALUES ('t', '${extension}', 'a', 'active', 1, 'x', 1, 'x', 1, 1, 5)`,
      `WITH RECURSIVE each (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM each WHERE n < ${NUMBERS})
        INSERT INTO phone_numbers (tenant_id, number, extension_id, usage_type, owner_id, shown_at)
        SELECT 't', '+1555' || '${extension}' || n, '${extension}', iif(n % 2, 'DirectNumber', NULL), iif(n % 3, 'queue', NULL),
          iif(n % 5, n, NULL) FROM each`,
    ]),
  ])
  return gate
}

const all = async (gate: Gate, table: string): Promise<unknown[]> =>
  (await gate.execute(`SELECT * FROM ${table} ORDER BY 1, 2, 3`)).rows

test('the upgrade keeps all numbers and what is known of them, reads all lists anew, and a number may then be in two', async () => {
  using folder = temporaryFolder()
  const gate = await openBefore(folder.file('sgw.db'))
  const numbers = await all(gate, 'phone_numbers')
  expect(numbers).toHaveLength(2 * NUMBERS)
  const upTo = MIGRATIONS.slice(0, BEFORE.length + 1)
  expect(await migrate(gate, upTo)).toEqual([NAME])
  expect(await all(gate, 'phone_numbers')).toEqual(numbers)
  const read = await gate.execute('SELECT DISTINCT numbers_read_at FROM extensions')
  expect(read.rows).toEqual([{ numbers_read_at: null }])
  const insert = `INSERT INTO phone_numbers (tenant_id, number, extension_id) VALUES ('t', '+1555one1', 'two')`
  await gate.execute(insert)
  expect(String(await failureOf(gate.execute(insert)))).toContain('UNIQUE')
  await gate.execute(`DELETE FROM extensions WHERE extension_id = 'one'`)
  expect(await all(gate, 'phone_numbers')).toHaveLength(NUMBERS + 1)
  await gate.close()
})
