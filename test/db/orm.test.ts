import { afterEach, beforeEach, expect, test } from 'bun:test'
import { and, eq, sql } from 'drizzle-orm'
import { createLog, unexpected } from '../../src/core/log.ts'
import { type Gate, openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { type Orm, ormOf } from '../../src/db/orm.ts'
import { apps, tenants } from '../../src/db/schema/index.ts'
import { createWriter } from '../../src/db/writer.ts'
import { commitTo } from '../../src/db/replicated-gate.ts'
import { failureOf } from '../support/process.ts'

const TENANT = { id: 'ten_1', name: "O'Brien", status: 'active', createdAt: 1, updatedAt: 1 } as const

let gate: Gate
let orm: Orm
/** How many units the writer has committed together, for each commit. */
let commits: number[]

beforeEach(async () => {
  gate = await openGate({ url: ':memory:', pragmas: [] })
  await migrate(gate, MIGRATIONS)
  commits = []
  const batch: Gate['batch'] = (statements) => {
    commits.push(statements.length)
    return gate.batch(statements)
  }
  orm = ormOf(gate, createWriter(commitTo({ batch })))
})

afterEach(() => gate.close())

test('a write joins the commit of the writer, and a select does not', async () => {
  await Promise.all([
    orm.insert(tenants).values(TENANT),
    orm.insert(tenants).values({ ...TENANT, id: 'ten_2' }),
    orm.delete(tenants).where(eq(tenants.id, 'ten_3')),
  ])
  expect((await orm.select().from(tenants)).map(({ id }) => id)).toEqual(['ten_1', 'ten_2'])
  expect(commits).toEqual([3])
})

test('returning rows have the fields that were asked for, in the types of the schema', async () => {
  const app = {
    id: 'app_1',
    tenantId: 'ten_1',
    name: 'A',
    role: 'app',
    keyHash: 'h',
    keyPrefix: 'p',
    webhookSecret: 's',
  }
  await orm.insert(tenants).values(TENANT)
  await orm.insert(apps).values({ ...app, isActive: true, createdAt: 1, updatedAt: 1 } as typeof apps.$inferInsert)
  const own = and(eq(apps.id, 'app_1'), eq(apps.isActive, true))
  const changed = await orm
    .update(apps)
    .set({ isActive: false })
    .where(own)
    .returning({ on: apps.isActive, of: apps.id })
  expect(changed).toEqual([{ on: false, of: 'app_1' }])
  expect(await orm.update(apps).set({ isActive: false }).where(own).returning({ of: apps.id })).toEqual([])
})

test('a batch is one atomic unit, with one result for each statement', async () => {
  const insert = orm.insert(tenants).values(TENANT)
  const rename = orm.update(tenants).set({ name: 'New' }).where(eq(tenants.id, 'ten_1'))
  const [, renamed, found] = await orm.batch([
    insert,
    rename.returning({ name: tenants.name }),
    orm.select().from(tenants),
  ])
  expect(renamed).toEqual([{ name: 'New' }])
  expect(found).toEqual([{ ...TENANT, name: 'New', optOutPolicy: 'observe' }])
  expect(commits).toEqual([3])
  const again = orm.batch([orm.delete(tenants), orm.insert(tenants).values({ ...TENANT, name: null as never })])
  expect(await failureOf(again)).toMatchObject({ code: 'SQLITE_CONSTRAINT_NOTNULL' })
  expect(await orm.$count(tenants)).toBe(1)
})

test('values reach SQLite as arguments', async () => {
  await orm.insert(tenants).values({ ...TENANT, name: `'); DROP TABLE tenants; --` })
  expect(await orm.select({ name: tenants.name }).from(tenants)).toEqual([{ name: `'); DROP TABLE tenants; --` }])
})

test('no log line has the arguments of a statement that failed', async () => {
  await orm.insert(tenants).values({ ...TENANT, name: 'canary' })
  const failure = await failureOf(orm.insert(tenants).values({ ...TENANT, name: 'canary' }))
  for (const format of ['json', 'pretty'] as const) {
    const lines: string[] = []
    const log = createLog({ level: 'debug', format, causes: true, write: (line) => lines.push(line) })
    log.error(unexpected(failure), 'request failed')
    expect(lines.join('')).toContain('SqliteError SQLITE_CONSTRAINT_PRIMARYKEY')
    expect(lines.join('')).toContain('UNIQUE constraint failed: tenants.id')
    expect(lines.join('')).not.toContain('canary')
  }
})

test('a transaction is refused, and writes nothing', async () => {
  const transaction = orm.transaction(async (inside) => void (await inside.insert(tenants).values(TENANT)))
  const refused = { message: expect.stringContaining('alone or in a batch') }
  expect(await failureOf(transaction)).toMatchObject({ cause: refused })
  expect(await failureOf(orm.run(sql`DROP TABLE tenants`))).toMatchObject({ cause: refused })
  expect(await failureOf(orm.batch([orm.run(sql`COMMIT`)]))).toMatchObject(refused)
  expect(await orm.$count(tenants)).toBe(0)
  expect(commits).toEqual([])
})
