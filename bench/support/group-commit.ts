import Libsql from 'libsql'

export interface GroupCommit {
  database: Libsql.Database
  /** Settles when what `write` writes is flushed. All that comes at one moment is one commit. */
  committed(write: () => void): Promise<void>
}

interface Unit {
  write(): void
  settle(): void
}

/** The barest durable store: raw libSQL, prepared statements, a flush for each commit. */
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
    for (const unit of now) unit.settle()
  }
  const committed = (write: () => void): Promise<void> =>
    new Promise((settle) => {
      if (units.push({ write, settle }) === 1) setImmediate(flush)
    })
  return { database, committed }
}
