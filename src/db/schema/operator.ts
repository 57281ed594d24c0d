import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Sessions of operators. A session that was ended keeps its row for a day with `expires_at` in the past. */
export const operatorSessions = sqliteTable('operator_sessions', {
  id: text().primaryKey(),
  /** HMAC of the session's token, which itself is never stored. */
  tokenHash: text('token_hash').notNull().unique(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

/** Links of `sgw console` that were not used yet. */
export const operatorLinks = sqliteTable('operator_links', {
  /** HMAC of the login in the link. */
  loginHash: text('login_hash').primaryKey(),
  expiresAt: integer('expires_at').notNull(),
})
