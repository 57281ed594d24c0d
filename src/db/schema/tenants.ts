import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { RETRY_POLICIES } from './webhooks.ts'

/** The effect of an opt-out on a tenant's messages: none, or they fail. */
export const OPT_OUT_POLICIES = ['observe', 'block'] as const
export type OptOutPolicy = (typeof OPT_OUT_POLICIES)[number]

export const TENANT_STATUSES = ['active', 'suspended', 'inactive'] as const

export const tenants = sqliteTable('tenants', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text({ enum: TENANT_STATUSES }).notNull(),
  optOutPolicy: text('opt_out_policy', { enum: OPT_OUT_POLICIES }).notNull().default('observe'),
  createdAt: integer('created_at').notNull(),
  /** When it got its status. */
  updatedAt: integer('updated_at').notNull(),
})

export const apps = sqliteTable(
  'apps',
  {
    /** Insertion order: `GET /v1/apps` lists the oldest first. */
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    webhookUrl: text('webhook_url'),
    role: text({ enum: ['app'] }).notNull(),
    isActive: integer('is_active', { mode: 'boolean' }).notNull(),
    /** HMAC of the API key, which itself is never stored. */
    keyHash: text('key_hash').notNull().unique(),
    keyPrefix: text('key_prefix').notNull(),
    /** JWE. */
    webhookSecret: text('webhook_secret').notNull(),
    lastUsedAt: integer('last_used_at'),
    /** The app whose key registered this one. Null if the operator did, or for apps of releases before 1.1.0. */
    registeredBy: text('registered_by'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** Null: `none`. */
    webhookRetries: text('webhook_retries', { enum: RETRY_POLICIES }),
    /** A bit for each of `WEBHOOK_EVENTS`. Null: `sms_inbound` alone. */
    webhookEvents: integer('webhook_events'),
  },
  (table) => [
    index('apps_by_tenant').on(table.tenantId),
    /** Counts and lists active apps quickly, however many inactive ones a tenant has. */
    index('apps_active')
      .on(table.tenantId)
      .where(sql`is_active = 1`),
    /** The apps that want more events than `sms_inbound`. The commit that ends a message checks this, and mostly finds none. */
    index('apps_with_events')
      .on(table.id)
      .where(sql`webhook_events > 1`),
  ],
)

/** Client addresses that are blocked after failed attempts; stored so that a restart does not unblock them. */
export const blockedAddresses = sqliteTable('blocked_addresses', {
  address: text().primaryKey(),
  until: integer().notNull(),
})

/** Tombstones of erased inbound messages, because the provider may send or list such a message again. */
export const erasedMessages = sqliteTable(
  'erased_messages',
  {
    /** HMAC of the tenant's id and the provider's id of the message. */
    idHash: text('id_hash').primaryKey(),
    erasedAt: integer('erased_at').notNull(),
  },
  (table) => [index('erased_messages_by_age').on(table.erasedAt)],
)

/** Small facts about this database itself. */
export const facts = sqliteTable('facts', {
  name: text().primaryKey(),
  value: text().notNull(),
})
