import { type Gate, isConstraint } from './gate.ts'
import type { Migration } from './migrations.ts'
import { sha256Hex } from '../core/secrets.ts'
import { VERSION } from '../core/version.ts'

/** Hooks of an upgrade. A new database runs none of them. */
export interface UpgradeHooks {
  /** Runs before anything is changed. */
  beforeAll(firstMigration: string): Promise<void>
  /** Runs before each migration; `number` counts from 1. */
  beforeEach(migration: string, number: number, of: number): void
}

/** Brings the schema up to date; returns the names of the migrations that it applied. Throws `SchemaError` if the database does not fit. */
export async function migrate(gate: Gate, migrations: readonly Migration[], hooks?: UpgradeHooks): Promise<string[]> {
  await gate.execute(
    'CREATE TABLE IF NOT EXISTS schema_migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)',
  )
  const applied = await readApplied(gate)
  const refusal = refusalOf(applied, migrations)
  if (refusal !== null) throw new SchemaError(`${refusal}${await lastOpened(gate)}`)
  const pending = migrations.slice(applied.length)
  const [first] = pending
  const upgradeHooks = applied.length > 0 ? hooks : undefined
  if (first !== undefined) await upgradeHooks?.beforeAll(first.name)
  for (const [offset, migration] of pending.entries()) {
    upgradeHooks?.beforeEach(migration.name, offset + 1, pending.length)
    await apply(gate, migration, applied.length + offset)
  }
  return pending.map((migration) => migration.name)
}

/** The database does not fit this program: it is newer, or a different version made it. */
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

/** The first commit of main whose migrations have not changed since. */
const UPGRADABLE_SINCE = 'c3f72dd'

/** Why these migrations cannot continue those of the database; null if they can. */
function refusalOf(applied: readonly Applied[], known: readonly Migration[]): string | null {
  for (const [position, { name, hash }] of applied.entries()) {
    const expected = known[position]
    if (expected === undefined)
      return `The database is newer than this program (it has migration ${name}): start the newer version, or restore the copy made before the upgrade`
    if (expected.name !== name || sha256Hex(expected.sql) !== hash)
      return `The database was made by another version (its migration ${name} differs from ours: ${hash.slice(0, 12)}). Only databases of releases and commits of main since ${UPGRADABLE_SINCE} can be upgraded: start the version that made this one; docs/upgrade.md shows how to find it`
  }
  return null
}

/** A sentence that names the version that last opened the database, and how a checkout gets it. Empty if unknown. */
async function lastOpened(gate: Gate): Promise<string> {
  // A foreign database may have no such table.
  const read = await gate.execute(`SELECT value FROM facts WHERE name = '${OPENED_BY}'`).catch(() => null)
  const version = read?.rows[0]?.['value']
  if (typeof version !== 'string') return ''
  const [release, commit] = version.split('+')
  const revision = commit ?? (version.endsWith('-dev') ? null : `v${release}`)
  return `. ${version} opened it last${revision === null ? '' : `: git checkout ${revision}`}`
}

/** The name of the fact with the version that last opened the database. */
const OPENED_BY = 'opened_by'

/** Stores this version in the database, for a version that has to refuse it. */
export async function noteVersion(gate: Gate): Promise<void> {
  const sql = `INSERT INTO facts (name, value) VALUES ('${OPENED_BY}', ?1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value`
  // If the disk cannot be written, the start itself finds out.
  await gate.execute({ sql, args: [VERSION] }).catch(() => undefined)
}

/**
 * Runs one migration and records it in one transaction, so that a crash leaves all of it or nothing. If it would leave broken
 * references, the hash of its record is null, which violates NOT NULL and rolls everything back.
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

/** Splits a migration. The driver runs only the first statement of a chunk and silently drops the rest, so this refuses such chunks. */
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
