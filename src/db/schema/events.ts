import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The event log, append-only: what `GET /v1/events` reads. A row contains no copy of a message. It is joined with its
 * subject when it is read, so the events of an erased message are gone without being deleted.
 */
export const events = sqliteTable('events', {
  /**
   * The order of the commits. The purge never deletes the newest row, so a number is never used twice, and the table needs no
   * AUTOINCREMENT, which costs a page in each commit.
   */
  seq: integer().primaryKey(),
  /** A set of `EVENT_KINDS`: one commit can make a message `queued` and `sending`. The lower bit came first. */
  kinds: integer().notNull(),
  /** The id of the message, or of the opt-out. Not a `seq`, because `messages` uses one again after its newest row was deleted. */
  subject: text().notNull(),
  /** Epoch milliseconds: the `timestamp` of the event. */
  at: integer().notNull(),
  /** JSON: fields of the event that its subject does not have. */
  detail: text(),
})

/** One bit each. SQL triggers on `messages` write the first five and those on `opt_outs` the last; `src/messages/receipts/state-rows.ts` writes `delivery`. */
export const EVENT_KINDS = {
  queued: 1,
  sending: 2,
  sent: 4,
  failed: 8,
  received: 16,
  delivery: 32,
  optOut: 64,
} as const
export type EventKind = keyof typeof EVENT_KINDS
