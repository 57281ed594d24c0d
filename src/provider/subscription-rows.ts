import { and, eq, isNotNull, ne, not } from 'drizzle-orm'
import type { Orm } from '../db/orm.ts'
import { type Topic, subscriptions } from '../db/schema/connections.ts'
import type { ExtensionKey } from './extension-rows.ts'

/** A subscription of an extension is for one topic. */
export interface TopicKey extends ExtensionKey {
  topic: Topic
}

export const ofTopic = ({ tenantId, extensionId }: ExtensionKey, topic: Topic): TopicKey => ({
  tenantId,
  extensionId,
  topic,
})

/** Marks all subscriptions of the extension for the topic as pending: only the next created one may become active. */
export const demoteSubscriptions = (orm: Orm, key: TopicKey) =>
  orm
    .update(subscriptions)
    .set({ status: 'pending' })
    .where(and(eq(subscriptions.tenantId, key.tenantId), isOf(key)))

const isOf = ({ tenantId, extensionId, topic }: TopicKey) =>
  and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId), eq(subscriptions.topic, topic))

/** Inserts a subscription that the provider has not created yet. */
export const insertSubscription = (orm: Orm, key: TopicKey, id: string, tokenHash: string, now: number) =>
  orm.insert(subscriptions).values({
    id,
    tenantId: key.tenantId,
    extensionId: key.extensionId,
    topic: key.topic,
    tokenHash,
    status: 'pending',
    createdAt: now,
  })

/** Stores the provider's answer. At `checkedAt` it granted the life that ends at `expiresAt`. */
export const completeSubscription = (
  orm: Orm,
  { tenantId }: ExtensionKey,
  id: string,
  made: { providerId: string; status: 'pending' | 'active'; expiresAt: number; checkedAt: number },
) =>
  orm
    .update(subscriptions)
    .set(made)
    .where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.id, id)))

export const deleteSubscription = (orm: Orm, { tenantId }: ExtensionKey, id: string) =>
  orm.delete(subscriptions).where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.id, id)))

export const deleteOtherSubscriptions = (orm: Orm, key: TopicKey, id: string) =>
  orm.delete(subscriptions).where(and(eq(subscriptions.tenantId, key.tenantId), isOf(key), ne(subscriptions.id, id)))

/** Deletes all of the extension's subscriptions for the topic, which the provider no longer has. */
export const deleteSubscriptions = (orm: Orm, key: TopicKey) =>
  orm.delete(subscriptions).where(and(eq(subscriptions.tenantId, key.tenantId), isOf(key)))

/** Stores the renewed life, granted at `checkedAt`. */
export const renewSubscription = (
  orm: Orm,
  { tenantId }: ExtensionKey,
  providerId: string,
  life: { expiresAt: number; checkedAt: number },
) =>
  orm
    .update(subscriptions)
    .set({ ...life, status: 'active' })
    .where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.providerId, providerId)))

/** The extension's subscriptions for the topic that the provider has created. */
export const readSubscriptions = (orm: Orm, key: TopicKey) =>
  orm
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.tenantId, key.tenantId), isOf(key), isNotNull(subscriptions.providerId)))

/** Whether there is any, created or not. */
export async function hasSubscriptions(orm: Orm, key: TopicKey): Promise<boolean> {
  const rows = await orm
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(eq(subscriptions.tenantId, key.tenantId), isOf(key)))
    .limit(1)
  return rows.length > 0
}

/** Whether the extension has a subscription that brings events of the topic, as far as the gateway knows. */
export async function hasLiveSubscription(orm: Orm, key: TopicKey, now: number): Promise<boolean> {
  const rows = await readSubscriptions(orm, key)
  return rows.some(({ status, expiresAt }) => status === 'active' && (expiresAt ?? 0) > now)
}

/** Whether the provider's subscription belongs to another tenant. Reads nothing else of that tenant's row. */
export async function isOfAnotherTenant(orm: Orm, { tenantId }: ExtensionKey, providerId: string): Promise<boolean> {
  const rows = await orm
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(not(eq(subscriptions.tenantId, tenantId)), eq(subscriptions.providerId, providerId)))
  return rows.length > 0
}
