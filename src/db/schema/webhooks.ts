import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const DELIVERY_OUTCOMES = ['success', 'http_error', 'timeout', 'network_error'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]
export const DESTINATION_KINDS = ['app', 'trigger'] as const
export type DestinationKind = (typeof DESTINATION_KINDS)[number]

/** How often a failed delivery is tried again; `retry-schedule.ts` has the steps. */
export const RETRY_POLICIES = ['none', 'short', 'standard'] as const
export type RetryPolicy = (typeof RETRY_POLICIES)[number]

/** What an app's webhook address can receive. Their positions are the bits of `apps.webhook_events`, so the order never changes. */
export const WEBHOOK_EVENTS = ['sms_inbound', 'sms_status', 'sms_delivery', 'opt_out'] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** Further addresses that receive a tenant's inbound messages, in addition to its apps. Not SQL triggers. */
export const triggers = sqliteTable(
  'triggers',
  {
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    tenantId: text('tenant_id').notNull(),
    callbackUrl: text('callback_url').notNull(),
    /** JWE. */
    secret: text().notNull(),
    createdAt: integer('created_at').notNull(),
    /** Null: `none`. */
    webhookRetries: text('webhook_retries', { enum: RETRY_POLICIES }),
  },
  (table) => [index('triggers_by_tenant').on(table.tenantId)],
)

/** One row per attempt of a delivery, committed before its POST is made, so that a crash repeats no attempt. */
export const webhookAttempts = sqliteTable(
  'webhook_attempts',
  {
    /** Never reused, as for send attempts. */
    seq: integer().primaryKey({ autoIncrement: true }),
    /** `<messageId>:<appId or triggerId>`, followed by `:<event>` if the event is not `sms_inbound`. */
    deliveryId: text('delivery_id').notNull(),
    /** From 1. */
    attemptNumber: integer('attempt_number').notNull().default(1),
    tenantId: text('tenant_id').notNull(),
    kind: text({ enum: DESTINATION_KINDS }).notNull(),
    targetId: text('target_id').notNull(),
    messageId: text('message_id').notNull(),
    correlationId: text('correlation_id').notNull(),
    url: text().notNull(),
    bootId: text('boot_id').notNull(),
    attemptedAt: integer('attempted_at').notNull(),
    /** Null while the POST is in progress. */
    outcome: text({ enum: DELIVERY_OUTCOMES }),
    statusCode: integer('status_code'),
    errorClass: text('error_class'),
    errorMessage: text('error_message'),
    responseSnippet: text('response_snippet'),
    durationMs: integer('duration_ms'),
    /**
     * True for a failed attempt that is the latest of its delivery, until its failure is dismissed. The failure's commit sets it, and the next
     * attempt's clears it. Null for every other attempt: a success never writes it.
     */
    isUnresolved: integer('is_unresolved', { mode: 'boolean' }),
  },
  (table) => [
    uniqueIndex('webhook_attempts_by_attempt').on(table.deliveryId, table.attemptNumber),
    index('webhook_attempts_by_tenant').on(table.tenantId, table.attemptedAt),
    index('webhook_attempts_by_age').on(table.attemptedAt),
    index('webhook_attempts_open')
      .on(table.bootId)
      .where(sql`outcome IS NULL`),
    /** Has every column for counting deliveries that never arrived. */
    index('webhook_attempts_unresolved')
      .on(table.tenantId, table.attemptedAt, table.targetId, table.kind, table.deliveryId)
      .where(sql`is_unresolved = 1`),
  ],
)

/**
 * An event of a message that apps can ask for, with the fields that the message's row does not have. The SQL trigger
 * `webhook_details_jobs` creates the `webhook` jobs of a row that is inserted, for the apps that asked: `sms_delivery` for the
 * message's app, `opt_out` for all apps of its tenant. Rows are kept as long as the deliveries.
 */
export const webhookDetails = sqliteTable(
  'webhook_details',
  {
    messageId: text('message_id').notNull(),
    event: text({ enum: WEBHOOK_EVENTS }).notNull(),
    /** Epoch milliseconds: the `timestamp` of the event. */
    at: integer().notNull(),
    /** JSON. */
    detail: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageId, table.event] }), index('webhook_details_by_age').on(table.at)],
)

/** Single-use tokens that browsers open their WebSocket with. */
export const wsTokens = sqliteTable(
  'ws_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    appId: text('app_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    expiresAt: integer('expires_at').notNull(),
    usedAt: integer('used_at'),
    /** The operator's session that fetched the token. Null for an app's own token. */
    sessionId: text('session_id'),
  },
  (table) => [index('ws_tokens_by_age').on(table.expiresAt)],
)
