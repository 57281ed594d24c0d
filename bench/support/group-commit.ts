import Libsql from 'libsql'

export interface GroupCommit {
  database: Libsql.Database
  /** Resolves when the rows of `write` are flushed. All calls of one turn share a commit. */
  committed(write: () => void): Promise<void>
}

interface Unit {
  write(): void
  done(): void
}

/** The simplest durable store: raw libSQL, prepared statements, and a flush for each commit. */
export function openGroupCommit(path: string, tables: readonly string[]): GroupCommit {
  const database = new Libsql(path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  for (const table of tables) database.exec(table)
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const units: Unit[] = []
  const flush = (): void => {
    const now = units.splice(0)
    begin.run([])
    for (const unit of now) unit.write()
    commit.run([])
    for (const unit of now) unit.done()
  }
  const committed = (write: () => void): Promise<void> =>
    new Promise((done) => {
      if (units.push({ write, done }) === 1) setImmediate(flush)
    })
  return { database, committed }
}
