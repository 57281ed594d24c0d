import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { FAILURE_CODES } from '../../core/message-failure.ts'

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
    /**
     * Identifies this copy of the message: one that is stored again after an erasure has another. All jobs of the message have it
     * as their `id`, and its deliveries derive their correlation id from it.
     */
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
    /** Why it failed, as a stable code of the gateway; `error` is the text for people. */
    errorCode: text('error_code', { enum: FAILURE_CODES }),
    receivingExtensionId: text('receiving_extension_id'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** When a scheduled message enters its queue, epoch milliseconds; null for any other. */
    sendAt: integer('send_at'),
    /** The attachments of an MMS as JSON, which `attachmentsOf` reads. Null for any other message. */
    attachments: text(),
    /** The id of the message that the operator sent in place of this failed one; null if it was not sent again. */
    resentAs: text('resent_as'),
  },
  (table) => [
    /** Has every column by which lists filter, so that counting a tenant's messages reads no rows. */
    index('messages_by_tenant').on(
      table.tenantId,
      table.createdAt,
      table.appId,
      table.direction,
      table.status,
      table.from,
      table.to,
      table.userId,
    ),
    /** The same for failed messages, which are few and written once: their errors say which were cancelled. */
    index('messages_failed')
      .on(
        table.tenantId,
        table.createdAt,
        table.errorCode,
        table.appId,
        table.direction,
        table.from,
        table.to,
        table.userId,
      )
      .where(sql`status = 'failed'`),
    uniqueIndex('messages_by_provider_id')
      .on(table.rcMessageId, table.tenantId, table.direction)
      .where(sql`rc_message_id IS NOT NULL`),
  ],
)

/**
 * The app that last wrote to a contact from a number. Messages from that contact belong to this app. The SQL trigger
 * `contact_owners_follow` maintains the rows, only for tenants with several apps.
 */
export const contactOwners = sqliteTable(
  'contact_owners',
  {
    seq: integer().primaryKey(),
    contact: text().notNull(),
    /** The tenant's own number. */
    number: text().notNull(),
    tenantId: text('tenant_id').notNull(),
    appId: text('app_id').notNull(),
    /** Of the newest message; it may be an hour behind. */
    writtenAt: integer('written_at').notNull(),
  },
  (table) => [uniqueIndex('contact_owners_by_contact').on(table.contact, table.number, table.tenantId)],
)

export const ATTEMPT_OUTCOMES = ['accepted', 'rejected', 'not_accepted', 'unknown'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]
export const ATTEMPT_RESOLUTIONS = ['sent', 'absent', 'unconfirmed'] as const
export type AttemptResolution = (typeof ATTEMPT_RESOLUTIONS)[number]

/** One row per provider call of a send, committed before the call. The rate windows are counted from these rows after a restart. */
export const sendAttempts = sqliteTable(
  'send_attempts',
  {
    /** Never reused: results name it, and the highest one reveals a restored database. */
    seq: integer().primaryKey({ autoIncrement: true }),
    messageId: text('message_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    extensionId: text('extension_id').notNull(),
    from: text('from_number').notNull(),
    to: text('to_number').notNull(),
    /** The process that made the call; an open attempt with another `boot_id` has an unknown outcome. */
    bootId: text('boot_id').notNull(),
    /** Steady time. */
    startedAt: integer('started_at').notNull(),
    /** The same moment by the provider's clock, epoch milliseconds; null if the provider's clock was unknown. */
    providerStartedAt: integer('provider_started_at'),
    /** How the call ended. Null while the call runs. An `unknown` one stays `unknown` after the attempt is closed. */
    outcome: text({ enum: ATTEMPT_OUTCOMES }),
    /** For an unknown outcome, steady time: a lookup that began at or after it may conclude that the message is absent. */
    absentAfter: integer('absent_after'),
    /** Steady time at which the attempt ended; null while it is open. */
    closedAt: integer('closed_at'),
    /** What the lookup found about an unknown outcome. */
    resolution: text({ enum: ATTEMPT_RESOLUTIONS }),
    httpStatus: integer('http_status'),
    /** The provider's code. */
    errorCode: text('error_code'),
    requestId: text('request_id'),
    /** How long the call took; null while it runs, and if its process died. */
    durationMs: integer('duration_ms'),
    /** The provider's words about a failure, at most 200 characters. */
    message: text(),
  },
  (table) => [
    /** At most one open attempt per conversation, so that calls never overlap and a record of the message store has one owner. */
    uniqueIndex('send_attempts_open')
      .on(table.from, table.to)
      .where(sql`closed_at IS NULL`),
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
