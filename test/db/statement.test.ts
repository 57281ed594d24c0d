import { expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { apps, facts, tenants } from '../../src/db/schema/index.ts'
import { build, statementOf } from '../../src/db/statement.ts'
import { createWriter } from '../../src/db/writer.ts'
import { failureOf } from '../support/process.ts'

test('the writer commits statements built by Drizzle, and RETURNING rows have the names of the columns', async () => {
  const gate = await openGate({ url: ':memory:', pragmas: [] })
  await migrate(gate, MIGRATIONS)
  const writer = createWriter(gate)
  const tenant = { id: 'ten_1', name: "O'Brien", status: 'active', createdAt: 1, updatedAt: 1 } as const
  const [inserted, renamed] = await writer.write([
    statementOf(build.insert(tenants).values(tenant)),
    statementOf(
      build
        .update(tenants)
        .set({ name: 'New' })
        .where(eq(tenants.id, 'ten_1'))
        .returning({ created: tenants.createdAt }),
    ),
  ])
  expect(inserted?.changes).toBe(1)
  expect(renamed?.rows).toEqual([{ created_at: 1 }])
  const [deleted] = await writer.write([statementOf(build.delete(tenants).where(eq(tenants.id, 'ten_2')))])
  expect(deleted?.changes).toBe(0)
  await gate.close()
})

test('values reach SQLite as arguments, in the form in which they are stored', () => {
  const own = and(eq(apps.id, 'app_1'), eq(apps.isActive, true))
  const { sql, args } = statementOf(build.update(apps).set({ isActive: false }).where(own))
  expect(sql).toBe('update "apps" set "is_active" = ? where ("apps"."id" = ? and "apps"."is_active" = ?)')
  expect(args).toEqual([0, 'app_1', 1])
})

test('a statement that is awaited instead of passed to the writer fails and writes nothing', async () => {
  const cause = { message: expect.stringContaining('handed to the writer') }
  expect(await failureOf(build.delete(facts).run())).toMatchObject({ cause })
})
