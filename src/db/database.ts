import { statSync } from 'node:fs'
import type { Clock } from '../core/clock.ts'
import type { DatabaseConfig } from '../core/config.ts'
import { type Log, silentLog } from '../core/log.ts'
import { type Watched, checkedGate, faultOfContent } from './checked-gate.ts'
import { FileStamp } from './file-stamp.ts'
import { type Gate, openGate } from './gate.ts'
import { countedCommit, isChained } from './history-rows.ts'
import { type UpgradeHooks, migrate, noteVersion } from './migrate.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'
import { type Reader, openReader } from './reader.ts'
import { LogEnd } from './log-end.ts'
import { OpenFiles } from './open-files.ts'
import { type Orm, ormOf } from './orm.ts'
import { type Commit, type Replica, commitTo, commitToReplica } from './replicated-gate.ts'
import { copyFile, saveLost } from './save-lost.ts'
import { PROBE, Storage } from './storage.ts'
import { StoredEvents } from './stored-events.ts'
import { type Writer, createWriter } from './writer.ts'

/**
 * An open, migrated database. Ordinary statements go through `orm`, other writes through `writer`, other queries through `gate`. Only the
 * migrations write through the gate, which does not wait for the replica.
 */
export interface Database {
  gate: Gate
  writer: Writer
  orm: Orm
  /** Absent in simulations, which have no disk. */
  storage?: Storage
  /** How far the event log may be shown. */
  storedEvents: StoredEvents
  /**
   * Resolves when the replica has everything that is committed now, or immediately without a replica. Rejects as a commit does while the
   * replica fails.
   */
  untilStored(): Promise<void>
  /** For queries that may take long. */
  reader: Reader
  /** Names of the migrations that this opening applied. */
  migrated: string[]
  close(): Promise<void>
}

export interface DatabaseOptions extends DatabaseConfig {
  /** True when Litestream runs, which must be the only one to make checkpoints. */
  litestream: boolean
  /** The epoch of the lease under which this process works. */
  epoch?: number
  /** Must have each commit of the writer before it is acknowledged. Absent: the disk is enough. */
  replica?: Replica
  /** For failures that no caller sees. */
  log?: Log
  clock?: Clock
  /** Default: this program's. */
  migrations?: readonly Migration[]
  /** Called before each long step of an upgrade, during which the gateway serves nothing. */
  progress?(step: UpgradeStep): void
  /** Delays a commit of the writer; simulations pass their own. */
  defer?: (flush: () => void) => void
}

export interface UpgradeStep {
  step: 'copying' | 'migrating'
  /** For `migrating`: the migration, its number from 1, and how many there are. */
  migration?: string
  number?: number
  of?: number
  /** Size of the database. */
  bytes: number
  /** An estimate from measurements with 100,000 messages; a slow disk takes longer. */
  expectedSeconds: number
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { path } = options
  const files = path === null ? null : new OpenFiles(path)
  let watched: Watched | null = null
  const probe = (): Promise<unknown> => (replicated?.probe ?? checked.batch)(PROBE)
  const inspect = async (): Promise<string | null> => watched && faultOfContent(watched, gate)
  const storage = new Storage(probe, files, options.log, options.clock, inspect)
  const gate = await openGate({ url: options.url, pragmas: pragmasFor(options), storage })
  const checked = checkedGate(gate, storage, () => watched)
  const { replica } = options
  const storedEvents = new StoredEvents(replica !== undefined)
  const replicated = replica === undefined ? null : commitToReplica(checked, replica, storage, storedEvents)
  try {
    const migrated = await migrate(gate, options.migrations ?? MIGRATIONS, upgrade(gate, options))
    await noteVersion(gate)
    const reader = openReader(gate, path)
    const writer = createWriter(await counted(replicated?.commit ?? commitTo(checked), gate, options), options.defer)
    files?.moved()
    if (path !== null) watched = { stamp: await FileStamp.begin(path, gate), log: new LogEnd(path) }
    // The writer makes one commit at a time, so an empty one is stored after all others.
    const untilStored = async (): Promise<void> => void (replicated !== null && (await writer.write([])))
    const close = async (): Promise<void> => {
      await closeAll(options, { gate, writer, storage, reader, watched })
      watched = null
    }
    return { gate, writer, orm: ormOf(gate, writer), storage, storedEvents, untilStored, reader, migrated, close }
  } catch (error) {
    await gate.close()
    throw error
  }
}

/** Counts commits in the history, if copies have to be compared. */
async function counted(commit: Commit, gate: Gate, { litestream, epoch }: DatabaseOptions): Promise<Commit> {
  const isCounted = litestream || (await isChained(gate))
  return isCounted ? countedCommit(commit, epoch ?? null) : commit
}

interface Open extends Pick<Database, 'gate' | 'writer' | 'reader'> {
  storage: Storage
  watched: Watched | null
}

async function closeAll(options: DatabaseOptions, { gate, writer, storage, reader, watched }: Open): Promise<void> {
  await writer.drained()
  await storage.probeIfFailing()
  await reader.close()
  // The log of a damaged database must not be written into its file.
  const isSaved = !options.litestream || storage.isLost
  // The driver closes the file only when the garbage collector runs, so the last rows would stay in the WAL file.
  if (isSaved && !storage.isSpoilt) await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined)
  // Closing would remove the log of the file that is there now, or write this log into it.
  if (storage.isLost) return saveLost(gate, options.path ?? '', storage, options.log ?? silentLog)
  await gate.close()
  watched?.stamp.close()
  watched?.log.close()
}

const pragmasFor = (options: DatabaseOptions): string[] => [
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'cache_size = -32768',
  `wal_autocheckpoint = ${options.litestream ? 0 : 1000}`,
]

const COPIED_BYTES_PER_SECOND = 40_000_000
const MIGRATED_BYTES_PER_SECOND = 20_000_000

/** Copies the file before the schema changes and reports every long step. */
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
