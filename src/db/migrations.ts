import start from '../../drizzle/0000_start.sql' with { type: 'text' }

/** All migrations in order, embedded so that a compiled executable has them. */
export const MIGRATIONS: readonly Migration[] = [{ name: '0000_start', sql: start }]

export interface Migration {
  name: string
  sql: string
}
