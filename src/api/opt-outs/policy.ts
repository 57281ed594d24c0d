import { and, eq, ne } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Policy } from './schemas.ts'

/** Returns the tenant's policy for messages to contacts that have opted out. */
export async function getPolicy(gateway: Gateway, { tenantId }: Caller): Promise<Policy> {
  const [row] = await gateway.database.orm
    .select({ policy: tenants.optOutPolicy })
    .from(tenants)
    .where(eq(tenants.id, tenantId))
  return { policy: row?.policy ?? 'observe' }
}

/** Sets the policy. It applies to every message whose turn comes after the commit. */
export async function setPolicy(gateway: Gateway, { tenantId }: Caller, { policy }: Policy): Promise<{ ok: true }> {
  await gateway.database.orm
    .update(tenants)
    .set({ optOutPolicy: policy })
    .where(and(eq(tenants.id, tenantId), ne(tenants.optOutPolicy, policy)))
  return { ok: true }
}
