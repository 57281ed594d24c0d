import start from '../../drizzle/0000_start.sql' with { type: 'text' }
import receive from '../../drizzle/0001_receive.sql' with { type: 'text' }

/** All migrations in order, embedded so that a compiled executable has them. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0000_start', sql: start },
  { name: '0001_receive', sql: receive },
]

export interface Migration {
  name: string
  sql: string
}
