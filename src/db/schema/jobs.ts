import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const JOB_KINDS = ['send', 'lookup', 'webhook', 'webhook_retry', 'fan_out', 'back_fill'] as const
export type JobKindName = (typeof JOB_KINDS)[number]

/**
 * Work that must happen, written in the same commit as its cause and deleted in the same commit as its result.
 * A job has no "running" state: whether its work was begun stands on the row it works on, which is what a crash leaves behind.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    /** Never used twice: the loop reads on from the last one it saw. */
    seq: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull(),
    kind: text({ enum: JOB_KINDS }).notNull(),
    /** Jobs of one tenant's lane run in order of `seq`. The kind says what a lane is: a `from` number, a destination, an extension. */
    lane: text().notNull(),
    tenantId: text('tenant_id').notNull(),
    /** The id of the row that the job works on. */
    subject: text().notNull(),
    /** Of a send job: the `to` number. A line may pass over a conversation that waits. */
    contact: text(),
    /** Steady time. Null for a send job: its position in its line decides when it begins. */
    dueAt: integer('due_at'),
    /** Set on send jobs by a restore: the message may have been sent since the copy was made, so it is looked up first. */
    isQuarantined: integer('is_quarantined', { mode: 'boolean' }).notNull().default(false),
    /** Steady time. */
    createdAt: integer('created_at').notNull(),
    /** Set on a redelivery outside of a schedule: no attempt follows it. */
    isLast: integer('is_last', { mode: 'boolean' }),
  },
  (table) => [
    index('jobs_by_lane').on(table.kind, table.lane, table.tenantId),
    /** A delivery has at most one next attempt. */
    uniqueIndex('jobs_next_attempt')
      .on(table.subject)
      .where(sql`kind = 'webhook_retry'`),
    /** A destination that is down for days has many retries that are not due: they are not read in vain. */
    index('jobs_retries_due')
      .on(table.lane, table.tenantId, table.dueAt)
      .where(sql`kind = 'webhook_retry'`),
  ],
)
