import { Database } from 'bun:sqlite'
import type { InStatement } from '@libsql/client'
import histories from '../../drizzle/0019_histories.sql' with { type: 'text' }
import type { Result, Row } from './connection.ts'
import { readCounters } from './counters.ts'
import type { Gate } from './gate.ts'
import type { History, Link } from './history.ts'
import type { Commit } from './replicated-gate.ts'
import { NOTE_FACT } from './restore-mark.ts'

// These files are read through bun:sqlite, which closes them at once. The gateway's own driver closes a file only when the garbage
// collector runs: it would share the log's index of a file that is renamed meanwhile, and Litestream would use a different one.

/** Reads the history of a database file that no gateway has open. Errors: it is not a gateway's database. */
export async function readHistory(path: string): Promise<History> {
  using file = open(path)
  const values = (sql: string): unknown[][] => file.query(sql).values()
  const [[epoch] = []] = values(`SELECT value FROM facts WHERE name = 'epoch'`)
  const [[lastMessageAt] = []] = values('SELECT max(created_at) FROM messages')
  const isWithChain = values(HAS_CHAIN).length > 0
  return {
    links: isWithChain ? values(LINKS).map(linkOf) : [],
    givenUp: new Map(isWithChain ? values(GIVEN_UP).map(([mark, n]) => [String(mark), Number(n)]) : []),
    epoch: epoch === undefined ? null : Number(epoch),
    counters: await readCounters({
      batch: (statements) => Promise.resolve(statements.map((sql) => rowsOf(file, sql))),
    }),
    lastMessageAt: typeof lastMessageAt === 'number' ? lastMessageAt : null,
  }
}

/** A reader that could write would empty the log on closing, and Litestream would copy everything again. */
function open(path: string, mode: 'read' | 'write' = 'read'): Database {
  const file = new Database(path, mode === 'read' ? { readonly: true } : { readwrite: true, create: false })
  file.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return file
}

const rowsOf = (file: Database, statement: InStatement): Result => ({
  rows: file.query<Row, []>(typeof statement === 'string' ? statement : statement.sql).all(),
  changes: 0,
})

const BUSY_TIMEOUT_MS = 1000
const LINKS = 'SELECT mark, epoch, commits FROM history ORDER BY position'
const GIVEN_UP = 'SELECT mark, commits FROM given_up_history'
/** A database of release 1.1.0 has none until its first start with a later one. */
const HAS_CHAIN = `SELECT 1 FROM sqlite_schema WHERE name = 'history'`

const linkOf = ([mark, epoch, commits]: readonly unknown[]): Link => ({
  mark: String(mark),
  epoch: typeof epoch === 'number' ? epoch : null,
  commits: Number(commits),
})

/** Records in a file that no gateway has open that it continues no copy, because it has the state of a moment. */
export function beginHistory(path: string): void {
  change(path, [
    { sql: 'INSERT INTO history (mark, epoch, commits) VALUES (?1, NULL, 0)', args: [crypto.randomUUID()] },
  ])
}

/** Records in such a file that a person gave up these links of others for it. */
export function giveUp(path: string, links: readonly Pick<Link, 'mark' | 'commits'>[]): void {
  const sql =
    'INSERT INTO given_up_history (mark, commits) VALUES (?1, ?2) ON CONFLICT (mark) DO UPDATE SET commits = excluded.commits'
  change(
    path,
    links.map(({ mark, commits }) => ({ sql, args: [mark, commits] })),
  )
}

/** A fact of a file that no gateway has open; null if it has none. */
export function readFact(path: string, name: string): string | null {
  using file = open(path)
  const found = file.query<{ value: string }, [string]>('SELECT value FROM facts WHERE name = ?1').get(name)
  return found?.value ?? null
}

export const writeFact = (path: string, name: string, value: string): void =>
  change(path, [{ sql: NOTE_FACT, args: [name, value] }])

function change(path: string, statements: readonly { sql: string; args: (string | number)[] }[]): void {
  using file = open(path, 'write')
  file.transaction(() => {
    for (const sql of histories.split('--> statement-breakpoint')) file.run(sql)
    for (const { sql, args } of statements) file.run(sql, args)
  })()
  // The file will be renamed without its log.
  file.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Counts each commit of a start in its link, in the same transaction. `epoch`: the lease's; null without a lease. */
export function countedCommit(commit: Commit, epoch: number | null): Commit {
  const count = {
    sql: 'INSERT INTO history (mark, epoch, commits) VALUES (?1, ?2, 1) ON CONFLICT (mark) DO UPDATE SET commits = commits + 1',
    args: [crypto.randomUUID(), epoch],
  }
  return async (statements) => {
    const { results, confirmed } = await commit([count, ...statements])
    return { results: results.slice(1), confirmed }
  }
}

/** Whether a database has a chain, which each later start must continue. */
export async function isChained(gate: Pick<Gate, 'values'>): Promise<boolean> {
  if ((await gate.values(HAS_CHAIN)).length === 0) return false
  return (await gate.values('SELECT 1 FROM history LIMIT 1')).length > 0
}
