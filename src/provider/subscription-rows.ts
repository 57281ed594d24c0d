import { and, eq, isNotNull, ne } from 'drizzle-orm'
import type { Reads } from '../db/database.ts'
import { subscriptions } from '../db/schema/connections.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Statement } from '../db/writer.ts'
import type { ExtensionKey } from './extension-rows.ts'

/** Marks all of the extension's subscriptions as pending: only the one that is created next may become active. */
export const demoteSubscriptions = (key: ExtensionKey): Statement =>
  statementOf(build.update(subscriptions).set({ status: 'pending' }).where(isOf(key)))

/** Inserts a subscription that the provider has not made yet. */
export const insertSubscription = (key: ExtensionKey, id: string, tokenHash: string, now: number): Statement =>
  statementOf(build.insert(subscriptions).values({ id, ...key, tokenHash, status: 'pending', createdAt: now }))

/** Stores the provider's answer. At `checkedAt` it granted the life that ends at `expiresAt`. */
export const completeSubscription = (
  id: string,
  made: { providerId: string; status: 'pending' | 'active'; expiresAt: number; checkedAt: number },
): Statement => statementOf(build.update(subscriptions).set(made).where(eq(subscriptions.id, id)))

export const deleteSubscription = (key: ExtensionKey, id: string): Statement =>
  statementOf(
    build.delete(subscriptions).where(and(eq(subscriptions.id, id), eq(subscriptions.tenantId, key.tenantId))),
  )

export const deleteOtherSubscriptions = (key: ExtensionKey, id: string): Statement =>
  statementOf(build.delete(subscriptions).where(and(isOf(key), ne(subscriptions.id, id))))

/** Stores the renewed life, granted at `checkedAt`. */
export const renewSubscription = (
  { tenantId }: ExtensionKey,
  providerId: string,
  life: { expiresAt: number; checkedAt: number },
): Statement =>
  statementOf(
    build
      .update(subscriptions)
      .set({ ...life, status: 'active' })
      .where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.providerId, providerId))),
  )

/** The extension's subscriptions that the provider has made. */
export const readSubscriptions = (reads: Reads, key: ExtensionKey) =>
  reads
    .select()
    .from(subscriptions)
    .where(and(isOf(key), isNotNull(subscriptions.providerId)))

export async function isOfAnotherTenant(reads: Reads, key: ExtensionKey, providerId: string): Promise<boolean> {
  const rows = await reads
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(eq(subscriptions.providerId, providerId), ne(subscriptions.tenantId, key.tenantId)))
  return rows.length > 0
}

const isOf = ({ tenantId, extensionId }: ExtensionKey) =>
  and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId))
