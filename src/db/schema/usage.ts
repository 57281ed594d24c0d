import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { DELIVERY_KINDS } from './webhooks.ts'

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
    received: integer().notNull().default(0),
    delivered: integer().notNull().default(0),
    undelivered: integer().notNull().default(0),
    /** Of the sent messages. */
    segments: integer().notNull().default(0),
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

/** The roll-up of webhook attempts by their destination. The SQL trigger `usage_of_ended_deliveries` keeps it. */
export const usageDestinations = sqliteTable(
  'usage_destinations',
  {
    tenantId: text('tenant_id').notNull(),
    halfHour: integer('half_hour').notNull(),
    targetId: text('target_id').notNull(),
    /**
     * The class of the attempts' duration, named by its upper edge: 5, 10, 15, 20, 30, 40, 50, 75, 100 and so on to 5000, as the
     * SQL trigger `usage_of_ended_deliveries` says. From 10 ms on, a percentile of these is at most half too high.
     */
    durationMs: integer('duration_ms').notNull(),
    kind: text({ enum: DELIVERY_KINDS }).notNull(),
    /** The latest. */
    url: text().notNull(),
    success: integer().notNull().default(0),
    failed: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.halfHour, table.targetId, table.durationMs] })],
)
