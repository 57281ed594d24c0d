import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { DESTINATION_KINDS, DELIVERY_OUTCOMES } from './webhooks.ts'

/**
 * The roll-up of messages: how many of an app's messages were accepted, sent and so on in a half hour. The commits that
 * change the messages keep it, so the counts stay when messages are erased. Half hours are numbered since the epoch.
 */
export const usage = sqliteTable(
  'usage',
  {
    tenantId: text('tenant_id').notNull(),
    halfHour: integer('half_hour').notNull(),
    appId: text('app_id').notNull(),
    /** Sent messages are counted by the time from `queued` to `sent`, as `latencyClass` says; 0 for all other counts. */
    latencyMs: integer('latency_ms').notNull(),
    accepted: integer().notNull().default(0),
    sent: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    /** Of the failed messages. */
    cancelled: integer().notNull().default(0),
    received: integer().notNull().default(0),
    delivered: integer().notNull().default(0),
    undelivered: integer().notNull().default(0),
    /** Of the sent messages. */
    segments: integer().notNull().default(0),
    /** Of the sent messages, those with media. */
    media: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.halfHour, table.appId, table.latencyMs] })],
)

/** The roll-up of failed messages by their errors. */
export const usageErrors = sqliteTable(
  'usage_errors',
  {
    tenantId: text('tenant_id').notNull(),
    halfHour: integer('half_hour').notNull(),
    error: text().notNull(),
    count: integer().notNull(),
    /** Epoch milliseconds. */
    lastAt: integer('last_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.halfHour, table.error] })],
)

/** The roll-up of webhook attempts by their destination. The commits that end the attempts keep it. */
export const usageDestinations = sqliteTable(
  'usage_destinations',
  {
    tenantId: text('tenant_id').notNull(),
    halfHour: integer('half_hour').notNull(),
    targetId: text('target_id').notNull(),
    /** The attempts' duration, as `latencyClass` says. Attempts from before the upgrade to 1.1.0 are in coarser classes. */
    durationMs: integer('duration_ms').notNull(),
    kind: text({ enum: DESTINATION_KINDS }).notNull(),
    /** The latest. */
    url: text().notNull(),
    success: integer().notNull().default(0),
    failed: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.halfHour, table.targetId, table.durationMs] })],
)

/** The state of each webhook destination. The commits that end its attempts keep it. */
export const webhookDestinations = sqliteTable(
  'webhook_destinations',
  {
    tenantId: text('tenant_id').notNull(),
    /** An app or a trigger. */
    targetId: text('target_id').notNull(),
    kind: text({ enum: DESTINATION_KINDS }).notNull(),
    lastOutcome: text('last_outcome', { enum: DELIVERY_OUTCOMES }).notNull(),
    lastStatusCode: integer('last_status_code'),
    /** When the first failed attempt since the last success began. Null if the last attempt succeeded. */
    failingSince: integer('failing_since'),
    /** Failed attempts since the last success. */
    failures: integer().notNull(),
    /** When the last attempt ended, epoch milliseconds. */
    endedAt: integer('ended_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.targetId] }),
    index('webhook_destinations_failing')
      .on(table.failingSince)
      .where(sql`failing_since IS NOT NULL`),
  ],
)
