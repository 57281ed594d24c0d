import { and, eq, isNotNull, ne, not } from 'drizzle-orm'
import type { Reads } from '../db/database.ts'
import { subscriptions } from '../db/schema/connections.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Statement } from '../db/writer.ts'
import type { ExtensionKey } from './extension-rows.ts'

/** Marks all of the extension's subscriptions as pending: only the one that is created next may become active. */
export const demoteSubscriptions = ({ tenantId, extensionId }: ExtensionKey): Statement =>
  statementOf(
    build
      .update(subscriptions)
      .set({ status: 'pending' })
      .where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId))),
  )

/** Inserts a subscription that the provider has not made yet. */
export const insertSubscription = (key: ExtensionKey, id: string, tokenHash: string, now: number): Statement =>
  statementOf(
    build.insert(subscriptions).values({
      id,
      tenantId: key.tenantId,
      extensionId: key.extensionId,
      tokenHash,
      status: 'pending',
      createdAt: now,
    }),
  )

/** Stores the provider's answer. At `checkedAt` it granted the life that ends at `expiresAt`. */
export const completeSubscription = (
  { tenantId }: ExtensionKey,
  id: string,
  made: { providerId: string; status: 'pending' | 'active'; expiresAt: number; checkedAt: number },
): Statement =>
  statementOf(
    build
      .update(subscriptions)
      .set(made)
      .where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.id, id))),
  )

export const deleteSubscription = ({ tenantId }: ExtensionKey, id: string): Statement =>
  statementOf(build.delete(subscriptions).where(and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.id, id))))

export const deleteOtherSubscriptions = ({ tenantId, extensionId }: ExtensionKey, id: string): Statement =>
  statementOf(
    build
      .delete(subscriptions)
      .where(
        and(eq(subscriptions.tenantId, tenantId), eq(subscriptions.extensionId, extensionId), ne(subscriptions.id, id)),
      ),
  )

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
export const readSubscriptions = (reads: Reads, { tenantId, extensionId }: ExtensionKey) =>
  reads
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.tenantId, tenantId),
        eq(subscriptions.extensionId, extensionId),
        isNotNull(subscriptions.providerId),
      ),
    )

/** Whether the provider's subscription belongs to another tenant. Reads nothing else of that tenant's row. */
export async function isOfAnotherTenant(
  reads: Reads,
  { tenantId }: ExtensionKey,
  providerId: string,
): Promise<boolean> {
  const rows = await reads
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(not(eq(subscriptions.tenantId, tenantId)), eq(subscriptions.providerId, providerId)))
  return rows.length > 0
}
