import type { Gateway } from '../gateway.ts'

/** Figures about the database itself. */
export interface DatabaseFigures {
  /** The newest migration that it has. */
  schema: string
  /** Epoch milliseconds; null if it never was. */
  restoredAt: number | null
  /** Bytes of its unused pages. */
  freeBytes: number
  eventLogRows: number
}

/** Rows of the event log are consecutive. */
const FIGURES = `SELECT (SELECT name FROM schema_migrations ORDER BY position DESC LIMIT 1) AS schema,
  (SELECT value FROM facts WHERE name = 'restored_at') AS restored_at, freelist_count * page_size AS free_bytes,
  coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events) + 1, 0) AS log_rows
  FROM pragma_freelist_count, pragma_page_size`

export async function readDatabase({ database }: Pick<Gateway, 'database'>): Promise<DatabaseFigures> {
  const [row] = await database.reader.longRead('operator', FIGURES, [])
  const restoredAt = row?.['restored_at'] ?? null
  return {
    schema: String(row?.['schema']),
    restoredAt: restoredAt === null ? null : Number(restoredAt),
    freeBytes: Number(row?.['free_bytes']),
    eventLogRows: Number(row?.['log_rows']),
  }
}
