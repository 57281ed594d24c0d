import { renameSync, rmSync, statSync } from 'node:fs'
import type { InValue } from '@libsql/client'
import { type AsyncRemoteCallback, type SqliteRemoteDatabase, drizzle } from 'drizzle-orm/sqlite-proxy'
import type { DatabaseConfig } from '../core/config.ts'
import type { Log } from '../core/log.ts'
import { type Gate, openGate } from './gate.ts'
import { type Lists, openLists } from './lists/lists.ts'
import { type UpgradeHooks, migrate } from './migrate.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'
import { PROBE, Storage } from './storage.ts'
import { type Writer, createWriter } from './writer.ts'
import * as schema from './schema/index.ts'

export type Reads = SqliteRemoteDatabase<typeof schema>

/** An open, migrated database. All writes go through `writer`; `reads` is for queries. */
export interface Database {
  gate: Gate
  reads: Reads
  writer: Writer
  /** Absent in the simulation, which has no disk. */
  storage?: Storage
  /** Pages of the lists that grow without end. */
  lists: Lists
  /** Names of the migrations that this opening applied. */
  migrated: string[]
  close(): Promise<void>
}

export interface DatabaseOptions extends DatabaseConfig {
  /** Litestream must be the only checkpointer. */
  litestream: boolean
  /** Hears of upkeep that fails. */
  log?: Log
  /** Those of this program if absent. */
  migrations?: readonly Migration[]
  /** Hears of the long steps of an upgrade before they begin: nothing is served meanwhile. */
  progress?(step: UpgradeStep): void
  /** When the writer starts a commit; the simulation hands in its own. */
  defer?: (flush: () => void) => void
}

export interface UpgradeStep {
  step: 'copying' | 'migrating'
  /** The migration, and which of how many. */
  migration?: string
  number?: number
  of?: number
  /** Size of the database. */
  bytes: number
  /** From measurements with 100,000 messages; a slow disk takes longer. */
  expectedSeconds: number
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const storage: Storage = new Storage(() => gate.batch(PROBE), options.log)
  const gate = await openGate({ url: options.url, pragmas: pragmasFor(options), storage })
  try {
    const { migrations = MIGRATIONS } = options
    const migrated = await migrate(gate, migrations, upgrade(gate, options))
    const lists = openLists(gate, options.defer === undefined ? options.path : null, options.log)
    if (migrated.length > 0 && migrated.length < migrations.length) lists.catchUp()
    const writer = noted(createWriter(gate, options.defer), lists)
    const close = async (): Promise<void> => {
      await writer.drained()
      await lists.close()
      // The driver leaves the connection to the collector, so that the last rows would stay in the WAL file.
      if (!options.litestream) await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined)
      await gate.close()
    }
    return { gate, reads: readsOf(gate), writer, storage, lists, migrated, close }
  } catch (error) {
    await gate.close()
    throw error
  }
}

/** Drizzle for queries alone: what writes goes through the writer, and an interactive transaction would hold up everybody. */
export function readsOf(gate: Pick<Gate, 'values'>): Reads {
  const query: AsyncRemoteCallback = async (sql, params, method) => {
    if (!/^select /i.test(sql)) throw new Error('Only queries can be read: writes go through the writer')
    const rows = await gate.values({ sql, args: params as InValue[] })
    return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
  }
  return drizzle(query, { schema })
}

/** The lists hear of every write. */
const noted = (writer: Writer, lists: Lists): Writer => ({
  ...writer,
  write: (statements) => (lists.noteWrite(), writer.write(statements)),
  row: (operation, value) => (lists.noteWrite(), writer.row(operation, value)),
})

const pragmasFor = (options: DatabaseOptions): string[] => [
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'cache_size = -32768',
  `wal_autocheckpoint = ${options.litestream ? 0 : 1000}`,
]

const COPIED_BYTES_PER_SECOND = 40_000_000
const MIGRATED_BYTES_PER_SECOND = 20_000_000

/** A copy of the file before the schema changes, and word of every long step. */
function upgrade(gate: Gate, { path, progress }: DatabaseOptions): UpgradeHooks | undefined {
  if (path === null) return undefined
  const tell = (step: Omit<UpgradeStep, 'bytes' | 'expectedSeconds'>, bytesPerSecond: number): void => {
    const bytes = statSync(path).size
    progress?.({ ...step, bytes, expectedSeconds: Math.ceil(bytes / bytesPerSecond) })
  }
  return {
    beforeAll: async (first) => {
      tell({ step: 'copying' }, COPIED_BYTES_PER_SECOND)
      await copyFile(gate, `${path}.before-${first}`)
    },
    beforeEach: (migration, number, of) =>
      tell({ step: 'migrating', migration, number, of }, MIGRATED_BYTES_PER_SECOND),
  }
}

/** A consistent copy of the whole file. An upgrade that fails again and again leaves one copy. */
async function copyFile(gate: Gate, copy: string): Promise<void> {
  rmSync(`${copy}.part`, { force: true })
  await gate.execute({ sql: 'VACUUM INTO ?', args: [`${copy}.part`] })
  renameSync(`${copy}.part`, copy)
}
