import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * The newest message of each conversation, for `GET /v1/conversations`. The first call fills it; from then on it follows the
 * messages up to the fact `conversations_through` (`src/upkeep/follow-conversations.ts`).
 */
export const conversationActivity = sqliteTable(
  'conversation_activity',
  {
    tenantId: text('tenant_id').notNull(),
    /** The tenant's own. */
    number: text().notNull(),
    contact: text().notNull(),
    /** `seq` of the newest message. */
    lastSeq: integer('last_seq').notNull(),
  },
  (table) => [
    uniqueIndex('conversation_activity_by_contact').on(table.tenantId, table.contact, table.number),
    index('conversation_activity_by_tenant').on(table.tenantId, table.lastSeq),
    index('conversation_activity_by_number').on(table.tenantId, table.number, table.lastSeq),
  ],
)

/** How many conversations each number has, kept by the SQL triggers `conversation_counts_*`: counting a million takes 50 ms. */
export const conversationCounts = sqliteTable(
  'conversation_counts',
  {
    tenantId: text('tenant_id').notNull(),
    number: text().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.number] })],
)
