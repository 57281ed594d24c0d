import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * The newest message of each conversation, for `GET /v1/conversations`. The first call fills it; from then on it follows the
 * messages up to the fact `conversations_through` (`src/messages/upkeep/follow-conversations.ts`).
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
