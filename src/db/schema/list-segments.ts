import { blob, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * Rows of a list in a form that is fast to count and to search: see `src/db/lists/segment.ts`. A segment contains every
 * row of its tenant with `after_at` < time ≤ `until_at`. SQL triggers delete it when one of these rows changes.
 */
export const listSegments = sqliteTable(
  'list_segments',
  {
    /** Never reused, because the reader thread keeps what it has read of a segment. */
    id: integer().primaryKey({ autoIncrement: true }),
    list: text({ enum: ['messages', 'deliveries'] }).notNull(),
    tenantId: text('tenant_id').notNull(),
    afterAt: integer('after_at').notNull(),
    untilAt: integer('until_at').notNull(),
    /** Null while the segment is being built. */
    rowCount: integer('row_count'),
    /** Rows that were open when the segment was built. */
    openCount: integer('open_count'),
  },
  (table) => [uniqueIndex('list_segments_by_time').on(table.list, table.tenantId, table.untilAt)],
)

/** One column of a segment. An SQL trigger deletes it with its segment. */
export const listSegmentColumns = sqliteTable(
  'list_segment_columns',
  {
    segmentId: integer('segment_id').notNull(),
    name: text().notNull(),
    /** An array of numbers or codes, one for each row. */
    data: blob({ mode: 'buffer' }).notNull(),
    /** The values that the codes stand for; null for numbers. */
    dictionaryText: text('dictionary_text'),
    dictionaryEnds: blob('dictionary_ends', { mode: 'buffer' }),
  },
  (table) => [primaryKey({ columns: [table.segmentId, table.name] })],
)
