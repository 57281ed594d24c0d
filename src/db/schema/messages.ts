import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const MESSAGE_STATUSES = ['queued', 'sending', 'sent', 'failed', 'received'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]
export const DIRECTIONS = ['outbound', 'inbound'] as const
export type Direction = (typeof DIRECTIONS)[number]

export const messages = sqliteTable(
  'messages',
  {
    /** Insertion order: breaks ties of `created_at` in lists. */
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    /** The job that carried the message; kept after the job is gone. */
    jobId: text('job_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    appId: text('app_id').notNull(),
    userId: text('user_id'),
    direction: text({ enum: DIRECTIONS }).notNull(),
    from: text('from_number').notNull(),
    to: text('to_number').notNull(),
    body: text().notNull(),
    status: text({ enum: MESSAGE_STATUSES }).notNull(),
    rcMessageId: text('rc_message_id'),
    error: text(),
    receivingExtensionId: text('receiving_extension_id'),
    /** The attempt that may change this message; a result that carries another id is void. */
    attemptId: text('attempt_id'),
    /**
     * The extension of a first attempt that began with its message and has no row of its own: open while the message is
     * `sending`, accepted when it is `sent`. Any other end makes it a row of `send_attempts` (first-attempt-rows.ts).
     */
    firstAttemptExtensionId: text('first_attempt_extension_id'),
    /** Steady time at which that began. */
    firstAttemptAt: integer('first_attempt_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    index('messages_by_tenant').on(table.tenantId, table.createdAt),
    uniqueIndex('messages_by_provider_id')
      .on(table.rcMessageId, table.tenantId, table.direction)
      .where(sql`rc_message_id IS NOT NULL`),
    /** Finds the open ones of these; no two of them carry the same text. */
    uniqueIndex('messages_open')
      .on(table.firstAttemptExtensionId, table.from, table.to, table.body)
      .where(sql`first_attempt_extension_id IS NOT NULL AND status = 'sending'`),
    /** Few ever: of these it stays open whether they were sent. The text is that of `MESSAGE_ERRORS.unconfirmed`. */
    index('messages_unconfirmed')
      .on(table.from, table.to)
      .where(sql`error = 'Delivery could not be confirmed with the provider'`),
  ],
)

/**
 * The app that last wrote to a contact from a number: what the contact writes back is its message. The trigger
 * `conversations_follow` (migration 0004) keeps the rows, and only for tenants with several apps. Not RingCentral's conversations.
 */
export const conversations = sqliteTable(
  'conversations',
  {
    seq: integer().primaryKey(),
    contact: text().notNull(),
    /** The tenant's own. */
    number: text().notNull(),
    tenantId: text('tenant_id').notNull(),
    appId: text('app_id').notNull(),
    /** Of the newest message; it may be an hour behind. */
    writtenAt: integer('written_at').notNull(),
  },
  (table) => [uniqueIndex('conversations_by_contact').on(table.contact, table.number, table.tenantId)],
)

export const ATTEMPT_OUTCOMES = ['accepted', 'rejected', 'not_accepted', 'absent', 'unconfirmed'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/**
 * One row per provider call of a send, committed before the call; but for first calls that stand in their message's row.
 * The rate windows are counted from both.
 */
export const sendAttempts = sqliteTable(
  'send_attempts',
  {
    /** Never used twice: the highest one tells a restored database from the one that went on. */
    seq: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull(),
    messageId: text('message_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    extensionId: text('extension_id').notNull(),
    from: text('from_number').notNull(),
    to: text('to_number').notNull(),
    textHash: text('text_hash').notNull(),
    /** 1 for the first call of the message. */
    number: integer().notNull(),
    /** The process that made the call; an open attempt of another boot has an unknown outcome. */
    bootId: text('boot_id').notNull(),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    /** Null while open: the call runs, or its outcome is not known yet. */
    outcome: text({ enum: ATTEMPT_OUTCOMES }),
    /** Set when the outcome became unknown: from then on "absent" from the provider's store counts. */
    settleAt: integer('settle_at'),
    httpStatus: integer('http_status'),
    code: text(),
    requestId: text('request_id'),
  },
  (table) => [
    /** At most one open attempt per text, so that a match in the provider's store is never in doubt. */
    uniqueIndex('send_attempts_open')
      .on(table.extensionId, table.from, table.to, table.textHash)
      .where(sql`outcome IS NULL`),
    index('send_attempts_by_message').on(table.messageId),
  ],
)

/** Answers kept for `Idempotency-Key`. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    appId: text('app_id').notNull(),
    key: text().notNull(),
    requestHash: text('request_hash').notNull(),
    messageId: text('message_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.appId, table.key] }), index('idempotency_keys_by_age').on(table.createdAt)],
)
