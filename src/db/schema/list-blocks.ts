import { blob, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * Rows of a list that have come to their end, in a form that is counted quickly. A block stands for every row of its
 * tenant with `after_at` < time ≤ `until_at`; triggers of the migration delete it as soon as that is no longer true.
 */
export const listBlocks = sqliteTable(
  'list_blocks',
  {
    /** Never used twice: what was read of a block may be kept in memory. */
    id: integer().primaryKey({ autoIncrement: true }),
    list: text({ enum: ['messages', 'deliveries'] }).notNull(),
    tenantId: text('tenant_id').notNull(),
    afterAt: integer('after_at').notNull(),
    untilAt: integer('until_at').notNull(),
    /** JSON, `BlockHeader`. */
    header: text().notNull(),
  },
  (table) => [uniqueIndex('list_blocks_by_time').on(table.list, table.tenantId, table.untilAt)],
)

/** One typed array of a block. */
export const listBlockColumns = sqliteTable('list_block_columns', {
  /** The block's id × 16 + the column's place. */
  id: integer().primaryKey(),
  data: blob({ mode: 'buffer' }).notNull(),
})
