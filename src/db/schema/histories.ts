import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The chain of a database: one link for each start that has committed anything, in order. It exists if the database is copied, and shows
 * whether one file or copy continues another: `db/history.ts`.
 */
export const history = sqliteTable('history', {
  position: integer().primaryKey(),
  /** Random: no two starts have the same. */
  mark: text().notNull().unique(),
  /** The epoch of the lease under which the start worked; null without a lease. */
  epoch: integer(),
  /** How many commits the start has made. Each commit of the writer counts itself. */
  commits: integer().notNull(),
})

/** Links of other histories that a person has given up for this one, up to a number of commits (`sgw restore --choose`). */
export const givenUpHistory = sqliteTable('given_up_history', {
  mark: text().primaryKey(),
  commits: integer().notNull(),
})
