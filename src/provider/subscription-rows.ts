import { and, eq, isNotNull, ne, not } from 'drizzle-orm'
import type { Orm } from '../db/orm.ts'
import { subscriptions } from '../db/schema/connections.ts'
import type { ExtensionKey } from './extension-rows.ts'

/** Marks all of the extension's subscriptions as pending: only the one that is created next may become active. */
export const demoteSubscriptions = (orm: Orm, { tenantId, extensionId }: ExtensionKey) =>
  orm
    .update(subscriptions)
    .set({ status: 'pending' })
    .where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId)))

/** Inserts a subscription that the provider has not made yet. */
export const insertSubscription = (orm: Orm, key: ExtensionKey, id: string, tokenHash: string, now: number) =>
  orm.insert(subscriptions).values({
    id,
    tenantId: key.tenantId,
    extensionId: key.extensionId,
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

export const deleteOtherSubscriptions = (orm: Orm, { tenantId, extensionId }: ExtensionKey, id: string) =>
  orm
    .delete(subscriptions)
    .where(
      and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId), ne(subscriptions.id, id)),
    )

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

/** The extension's subscriptions that the provider has made. */
export const readSubscriptions = (orm: Orm, { tenantId, extensionId }: ExtensionKey) =>
  orm
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.tenantId, tenantId),
        eq(subscriptions.extensionId, extensionId),
        isNotNull(subscriptions.providerId),
      ),
    )

/** Whether the extension has a subscription that brings inbound messages, as far as the gateway knows. */
export async function hasLiveSubscription(orm: Orm, key: ExtensionKey, now: number): Promise<boolean> {
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
