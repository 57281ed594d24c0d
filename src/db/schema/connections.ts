import { foreignKey, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { tenants } from './tenants.ts'

export const EXTENSION_STATUSES = ['active', 'refresh_failed', 'revoked'] as const
export type ExtensionStatus = (typeof EXTENSION_STATUSES)[number]

/** Provider extensions that a tenant has authorized, with their tokens (JWE). */
export const extensions = sqliteTable(
  'extensions',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    extensionId: text('extension_id').notNull(),
    accountId: text('account_id').notNull(),
    status: text({ enum: EXTENSION_STATUSES }).notNull(),
    /** When `status` last changed, epoch milliseconds. Null if that was before release 1.1.0. */
    statusSince: integer('status_since'),
    /** The provider's short number and name of the extension. Null until they are read. */
    extensionNumber: text('extension_number'),
    name: text(),
    connectedAt: integer('connected_at').notNull(),
    /** When the tenant first connected it, by the provider's clock, epoch milliseconds: no message from before is the tenant's. Null if that was before release 1.2.0. */
    firstConnectedAt: integer('first_connected_at'),
    accessToken: text('access_token').notNull(),
    accessExpiresAt: integer('access_expires_at').notNull(),
    refreshToken: text('refresh_token').notNull(),
    refreshExpiresAt: integer('refresh_expires_at').notNull(),
    refreshedAt: integer('refreshed_at').notNull(),
    /** The user's JWT (JWE), which opens a new session when this one is lost. Null if a person logged in. */
    jwt: text(),
    /** When the JWT says that it expires, epoch milliseconds. Null if never. */
    jwtExpiresAt: integer('jwt_expires_at'),
    /** When RingCentral ends the session, even if tokens are refreshed, epoch milliseconds. Null if it sets no such end. */
    sessionEndsAt: integer('session_ends_at'),
    /** Consecutive failed refreshes, and when the next one is due. */
    refreshFailures: integer('refresh_failures').notNull().default(0),
    nextRefreshAt: integer('next_refresh_at'),
    /** Why the last refresh failed, JSON (`provider/stored-refusals.ts`). Null if it succeeded. */
    refreshRefusal: text('refresh_refusal'),
    /** Other refusals by the provider, JSON (`provider/stored-refusals.ts`). Null if there are none. */
    refusals: text(),
    /** Set by a 429: no send for this extension before then. Steady time. */
    pausedUntil: integer('paused_until'),
    numbersReadAt: integer('numbers_read_at'),
    /** The 10DLC campaigns of its own local numbers in the United States, JSON (`provider/known-campaigns.ts`). Null: it has none, or they were never read. */
    campaigns: text(),
    /** The back-fill has read the provider's inbound messages up to this time. */
    backFilledUntil: integer('inbound_seen_at'),
    /** The same for its message threads. Null while it has none. */
    threadsReadUntil: integer('threads_seen_at'),
    /** Where the sync of its message threads continues; everything before is stored. Null: they are listed by time. */
    threadsToken: text('threads_token'),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.extensionId] })],
)

/** Keyed hashes of the JWTs that have ever connected an extension. They stay forever: no start presents such a JWT again. */
export const connectedJwts = sqliteTable('connected_jwts', { hash: text().primaryKey() })

export const INBOUND_SOURCES = ['store', 'threads'] as const
export type InboundSource = (typeof INBOUND_SOURCES)[number]

/** The topic of a subscription at the provider: inbound texts in the message store, changes of message threads, or changes of consents. */
export const TOPICS = ['messages', 'threads', 'consents'] as const
export type Topic = (typeof TOPICS)[number]

/**
 * SMS-capable numbers in the lists of the extensions, and whose store has their messages (`provider/number-owners.ts`). The number of a
 * call queue is in the list of each of its recipients, and has a row for each.
 */
export const phoneNumbers = sqliteTable(
  'phone_numbers',
  {
    tenantId: text('tenant_id').notNull(),
    number: text().notNull(),
    extensionId: text('extension_id').notNull(),
    /** In the provider's words. Null: not read yet, or the provider gives none. */
    usageType: text('usage_type'),
    /** The extension that the number belongs to, as a list of numbers or the answer of a send has said. */
    ownerId: text('owner_id'),
    /** Whether it may send media. Null if the list was read before this was stored. */
    sendsMedia: integer('sends_media', { mode: 'boolean' }),
    /** When a listing of the messages of every owner first showed one of this number, epoch milliseconds. */
    shownAt: integer('shown_at'),
    /** Which of the provider's stores has its inbound texts (`provider/inbound-source.ts`). Null if never read. */
    inboundSource: text('inbound_source', { enum: INBOUND_SOURCES }),
    /** When the source changed, by the provider's clock, epoch milliseconds. Null if never. */
    sourceChangedAt: integer('source_changed_at'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.number, table.extensionId] }),
    foreignKey({
      columns: [table.tenantId, table.extensionId],
      foreignColumns: [extensions.tenantId, extensions.extensionId],
    }).onDelete('cascade'),
  ],
)

/**
 * The subscriptions at the provider: of webhooks, and one row for each socket (`provider/socket-rows.ts`). A row without a provider id was
 * committed before the provider was asked.
 */
export const subscriptions = sqliteTable(
  'subscriptions',
  {
    id: text().primaryKey(),
    tenantId: text('tenant_id').notNull(),
    extensionId: text('extension_id').notNull(),
    providerId: text('provider_id').unique(),
    /** HMAC of the Verification-Token that its events carry. Events of a socket carry none. */
    tokenHash: text('token_hash').notNull().unique(),
    topic: text({ enum: TOPICS }).notNull().default('messages'),
    status: text({ enum: ['pending', 'active'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    checkedAt: integer('checked_at'),
  },
  (table) => [index('subscriptions_by_extension').on(table.tenantId, table.extensionId)],
)

/** Connect and invite tokens: single use, only their HMAC is stored. */
export const connectTokens = sqliteTable(
  'connect_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    kind: text({ enum: ['connect', 'invite'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    usedAt: integer('used_at'),
  },
  (table) => [index('connect_tokens_by_tenant').on(table.tenantId, table.createdAt)],
)

/** OAuth `state` values of logins in progress, each with its PKCE verifier (JWE). */
export const oauthStates = sqliteTable('oauth_states', {
  stateHash: text('state_hash').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  codeVerifier: text('code_verifier').notNull(),
  /** Equals `usedAt` if the state has connected an extension. */
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
})
