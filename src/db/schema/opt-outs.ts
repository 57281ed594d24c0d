import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/** Where the decision came from: the contact by a keyword, RingCentral by a delivery code or a consent, or an app by `PUT /v1/opt-outs`. */
export const OPT_OUT_SOURCES = ['keyword', 'provider', 'api'] as const
export type OptOutSource = (typeof OPT_OUT_SOURCES)[number]

/** `changed_by` of a row that a changed consent created. No webhook reports it, because no message caused it. */
export const CHANGED_CONSENT = 'consent'
/** `changed_by` of a row without an event: the provider had this consent when it was first read, or before there was a conversation. */
export const KNOWN_CONSENT = 'known_consent'

/**
 * The latest decision for a contact and a number of the tenant. A row stays after an opt-in, so that an older STOP that arrives late changes
 * nothing. The SQL triggers `opt_outs_events_*` append an event to the log whenever `opted_out` changes.
 */
export const optOuts = sqliteTable(
  'opt_outs',
  {
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    tenantId: text('tenant_id').notNull(),
    /** The tenant's own. */
    number: text().notNull(),
    contact: text().notNull(),
    optedOut: integer('opted_out', { mode: 'boolean' }).notNull(),
    source: text({ enum: OPT_OUT_SOURCES }).notNull(),
    /** Epoch milliseconds at which `opted_out` last changed. */
    since: integer().notNull(),
    /** Epoch milliseconds by the provider's clock: of two decisions the later one counts. */
    decidedAt: integer('decided_at').notNull(),
    /** The message or the request that last decided, or `CHANGED_CONSENT`, or `KNOWN_CONSENT`. */
    changedBy: text('changed_by').notNull(),
  },
  (table) => [
    uniqueIndex('opt_outs_by_contact').on(table.tenantId, table.contact, table.number),
    index('opt_outs_by_tenant')
      .on(table.tenantId, table.since)
      .where(sql`opted_out = 1`),
    index('opt_outs_by_number')
      .on(table.tenantId, table.number, table.since)
      .where(sql`opted_out = 1`),
  ],
)

/**
 * The provider's consents of connected accounts, the latest for each contact and number. Those that concern a conversation are also in
 * `opt_outs`; the others count when a message is sent.
 */
export const consents = sqliteTable(
  'consents',
  {
    seq: integer().primaryKey(),
    contact: text().notNull(),
    accountId: text('account_id').notNull(),
    /** The account's number; empty for all numbers of the account. */
    number: text().notNull(),
    optedOut: integer('opted_out', { mode: 'boolean' }).notNull(),
    /** Epoch milliseconds by the provider's clock. */
    modifiedAt: integer('modified_at').notNull(),
  },
  (table) => [uniqueIndex('consents_by_contact').on(table.contact, table.accountId, table.number)],
)
