import { type Gate, isConstraint } from './gate.ts'
import type { Migration } from './migrations.ts'
import { sha256Hex } from '../core/secrets.ts'

/** What is heard of an upgrade, which a database that is made new is not. */
export interface UpgradeHooks {
  /** Before anything is changed. */
  beforeAll(firstMigration: string): Promise<void>
  /** Before each migration; its `number` counts from 1. */
  beforeEach(migration: string, number: number, of: number): void
}

/** Brings the schema up to date; answers the names of what was applied. Throws `SchemaError` rather than guess. */
export async function migrate(gate: Gate, migrations: readonly Migration[], hooks?: UpgradeHooks): Promise<string[]> {
  await gate.execute(
    'CREATE TABLE IF NOT EXISTS schema_migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)',
  )
  const applied = await readApplied(gate)
  refuseUnknown(applied, migrations)
  const pending = migrations.slice(applied.length)
  const [first] = pending
  const heard = applied.length > 0 ? hooks : undefined
  if (first !== undefined) await heard?.beforeAll(first.name)
  for (const [offset, migration] of pending.entries()) {
    heard?.beforeEach(migration.name, offset + 1, pending.length)
    await apply(gate, migration, applied.length + offset)
  }
  return pending.map((migration) => migration.name)
}

/** The database does not fit this program: newer, or written by another line of development. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

interface Applied {
  name: string
  hash: string
}

async function readApplied(gate: Gate): Promise<Applied[]> {
  const { rows } = await gate.execute('SELECT name, hash FROM schema_migrations ORDER BY position')
  return rows.map((row) => ({ name: String(row['name']), hash: String(row['hash']) }))
}

function refuseUnknown(applied: readonly Applied[], known: readonly Migration[]): void {
  for (const [position, { name, hash }] of applied.entries()) {
    const expected = known[position]
    if (expected === undefined) {
      throw new SchemaError(
        `The database is newer than this program (it has migration ${name}): start the newer version, or restore the copy made before the upgrade`,
      )
    }
    if (expected.name !== name || sha256Hex(expected.sql) !== hash) {
      throw new SchemaError(
        `The database was made by another version (its migration ${name} differs from ours): start the version that made it`,
      )
    }
  }
}

/**
 * One migration is one transaction, its own record included; a crash leaves all of it or nothing. Broken references
 * make that record's hash null, which the table refuses: the migration is undone before it was ever there.
 */
async function apply(gate: Gate, migration: Migration, position: number): Promise<void> {
  const statements = [
    { sql: 'PRAGMA defer_foreign_keys = ON', args: [] },
    ...statementsOf(migration).map((sql) => ({ sql, args: [] })),
    {
      sql: `INSERT INTO schema_migrations (position, name, hash)
        SELECT ?1, ?2, CASE WHEN NOT EXISTS (SELECT 1 FROM pragma_foreign_key_check) THEN ?3 END`,
      args: [position, migration.name, sha256Hex(migration.sql)],
    },
  ]
  await gate.batch(statements).catch((error: unknown) => {
    if (!isConstraint(error)) throw error
    throw new SchemaError(
      `Migration ${migration.name} does not fit the stored rows or would leave broken references: nothing was changed`,
    )
  })
}

/** The driver runs only the first statement of a chunk and says nothing about the rest, so chunks are checked here. */
function statementsOf(migration: Migration): string[] {
  const chunks = migration.sql.split('--> statement-breakpoint').map((chunk) => chunk.trim())
  const statements = chunks.filter((chunk) => chunk.replaceAll(/^--.*$/gm, '').trim() !== '')
  for (const statement of statements) {
    const isTrigger = /^CREATE TRIGGER/i.test(statement)
    if (!isTrigger && statement.replace(/;\s*$/, '').includes(';')) {
      throw new SchemaError(`Migration ${migration.name} has several statements without a breakpoint`)
    }
  }
  return statements
}
