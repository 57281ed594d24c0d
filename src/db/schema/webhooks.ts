import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const DELIVERY_OUTCOMES = ['success', 'http_error', 'timeout', 'network_error'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]
export const DELIVERY_KINDS = ['app', 'trigger'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]

/** Further addresses that get a tenant's inbound messages, besides its apps. */
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
  },
  (table) => [index('triggers_by_tenant').on(table.tenantId)],
)

/** One row per POST of a delivery, committed before the POST: at most one POST per delivery, also after a crash. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    /** Never reused, as for send attempts. */
    seq: integer().primaryKey({ autoIncrement: true }),
    /** `<messageId>:<appId or triggerId>`. */
    deliveryId: text('delivery_id').notNull().unique(),
    tenantId: text('tenant_id').notNull(),
    kind: text({ enum: DELIVERY_KINDS }).notNull(),
    targetId: text('target_id').notNull(),
    messageId: text('message_id').notNull(),
    correlationId: text('correlation_id').notNull(),
    url: text().notNull(),
    bootId: text('boot_id').notNull(),
    attemptedAt: integer('attempted_at').notNull(),
    /** Null while the POST is under way. */
    outcome: text({ enum: DELIVERY_OUTCOMES }),
    statusCode: integer('status_code'),
    errorClass: text('error_class'),
    errorMessage: text('error_message'),
    responseSnippet: text('response_snippet'),
    durationMs: integer('duration_ms'),
  },
  (table) => [
    index('deliveries_by_tenant').on(table.tenantId, table.attemptedAt),
    index('deliveries_by_age').on(table.attemptedAt),
    index('deliveries_open')
      .on(table.bootId)
      .where(sql`outcome IS NULL`),
  ],
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
  },
  (table) => [index('ws_tokens_by_age').on(table.expiresAt)],
)
