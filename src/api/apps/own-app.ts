import { and, eq } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { apps } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** Refuses every app but the caller's own, as if it did not exist. Errors: `appNotFound`. */
export function requireOwnApp(caller: Caller, appId: string): void {
  if (appId !== caller.appId) throw apiError('appNotFound')
}

/**
 * Commits a change of the caller's app, together with `more`, and empties the key cache so that the change takes effect immediately. Errors:
 * `appNotFound`, also if the app is not active.
 */
export async function changeApp(
  gateway: Gateway,
  caller: Caller,
  changes: Partial<typeof apps.$inferInsert>,
  ...more: BatchItem<'sqlite'>[]
): Promise<void> {
  const update = gateway.database.orm
    .update(apps)
    .set({ ...changes, updatedAt: gateway.clock.now() })
    .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, caller.appId), eq(apps.isActive, true)))
    .returning({ id: apps.id })
  const [changed] = await gateway.database.orm.batch([update, ...more])
  gateway.keys.forget()
  if (changed.length === 0) throw apiError('appNotFound')
}
