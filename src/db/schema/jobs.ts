import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const JOB_KINDS = ['send', 'schedule', 'lookup', 'webhook', 'fan_out', 'back_fill'] as const
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
    /** Jobs of one tenant's lane run in order of `seq`. The kind says what a lane is: a `from` number, a destination, an extension, a scheduled message. */
    lane: text().notNull(),
    tenantId: text('tenant_id').notNull(),
    /** The id of the row that the job works on. */
    subject: text().notNull(),
    /** Of a send job: the `to` number. A line may pass over a conversation that waits. */
    contact: text(),
    /** Steady time; of a `schedule` job wall-clock time. Null for a send job: its position in its line decides when it begins. */
    dueAt: integer('due_at'),
    /** Set on send jobs by a restore: the message may have been sent since the copy was made, so it is looked up first. */
    isQuarantined: integer('is_quarantined', { mode: 'boolean' }).notNull().default(false),
    /** Steady time. */
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('jobs_by_lane').on(table.kind, table.lane, table.tenantId),
    /** Finds what comes due next, however many messages are scheduled. */
    index('jobs_scheduled')
      .on(table.dueAt)
      .where(sql`kind = 'schedule'`),
  ],
)
