import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The possible fates of a message after `sent`. */
export const DELIVERY_CONCLUSIONS = ['delivered', 'undelivered', 'unknown'] as const
export type DeliveryConclusion = (typeof DELIVERY_CONCLUSIONS)[number]

/**
 * One row for each tracked message. `src/messages/receipts/start-tracking.ts` inserts it from the event log soon after `sent`.
 * Separate from `messages`, whose rows and index do not change after a message has ended.
 */
export const deliveryStates = sqliteTable(
  'delivery_states',
  {
    /** The message's `seq`. */
    messageSeq: integer('message_seq').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    /** The extension that sent it, whose message store has the record. */
    extensionId: text('extension_id').notNull(),
    /** Steady time. */
    sentAt: integer('sent_at').notNull(),
    /** Null while the provider may still report a final status. */
    conclusion: text({ enum: DELIVERY_CONCLUSIONS }),
    /** The provider's code, of an undelivered message. */
    errorCode: text('error_code'),
    /** When the gateway learned it, epoch milliseconds. */
    concludedAt: integer('concluded_at'),
  },
  (table) => [
    index('delivery_states_open')
      .on(table.tenantId, table.extensionId, table.sentAt)
      .where(sql`conclusion IS NULL`),
    /** For `state=undelivered` of lists. */
    index('delivery_states_undelivered')
      .on(table.tenantId, table.messageSeq)
      .where(sql`conclusion = 'undelivered'`),
  ],
)
