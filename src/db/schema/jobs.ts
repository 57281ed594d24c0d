import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const JOB_KINDS = ['send', 'schedule', 'lookup', 'webhook', 'webhook_retry', 'back_fill'] as const
export type JobKindName = (typeof JOB_KINDS)[number]

/**
 * Work that must happen, written in the same commit as its cause and deleted in the same commit as its result. A job has no "running" state.
 * The row that it works on shows whether the work has begun, even after a crash.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    /** Never reused, because a queue of the send engine continues after its cursor. */
    seq: integer().primaryKey({ autoIncrement: true }),
    /** The jobs of one message share its `job_id`, so this is not unique. */
    id: text().notNull(),
    kind: text({ enum: JOB_KINDS }).notNull(),
    /** The jobs of one tenant's lane run in order. For the lane and subject of each kind, see "Jobs" in ARCHITECTURE.md. */
    lane: text().notNull(),
    tenantId: text('tenant_id').notNull(),
    /** What the job works on. */
    subject: text().notNull(),
    /** Of a send job: the `to` number. Its queue may pass over a conversation that waits. */
    contact: text(),
    /** Steady time; of a `schedule` job wall-clock time. Null for a send job: its position in its queue decides when it begins. */
    dueAt: integer('due_at'),
    /** Epoch milliseconds: steady time of `send` and `lookup` jobs, wall-clock time of the others. The age of a send job counts from here. */
    createdAt: integer('created_at').notNull(),
    /** Set on a redelivery outside a schedule: no attempt follows it. */
    isLast: integer('is_last', { mode: 'boolean' }),
  },
  (table) => [
    /** For the send engine, in order of `seq`. */
    index('jobs_by_lane')
      .on(table.kind, table.lane, table.tenantId)
      .where(sql`kind = 'send' OR kind = 'schedule'`),
    /** For the job loops: a destination that is down for days has many retries that are not due yet, which this skips. */
    index('jobs_by_due_time')
      .on(table.kind, table.lane, table.tenantId, table.dueAt)
      .where(sql`kind = 'webhook' OR kind = 'webhook_retry' OR kind = 'lookup' OR kind = 'back_fill'`),
    /** A delivery has at most one next attempt. */
    uniqueIndex('jobs_next_attempt')
      .on(table.subject)
      .where(sql`kind = 'webhook_retry'`),
    /** Finds the messages that have waited longest, however many jobs of other kinds wait for hours or days. */
    index('jobs_sends')
      .on(table.seq)
      .where(sql`kind = 'send'`),
    /** Finds what is due next, however many messages are scheduled. */
    index('jobs_scheduled')
      .on(table.dueAt)
      .where(sql`kind = 'schedule'`),
    /** The same per tenant, so that one tenant's many messages do not delay the others. */
    index('jobs_scheduled_in_turn')
      .on(table.tenantId, table.dueAt)
      .where(sql`kind = 'schedule'`),
  ],
)
