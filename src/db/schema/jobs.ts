import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

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
    kind: text().notNull(),
    /** Jobs of one tenant's lane run in order of `seq`; the kind says what a lane is (a `from` number, an app). */
    lane: text().notNull(),
    tenantId: text('tenant_id').notNull(),
    /** The id of the row that the job works on. */
    subject: text().notNull(),
    runAt: integer('run_at').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [index('jobs_by_lane').on(table.kind, table.lane, table.tenantId)],
)
