import { asc, eq } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { apps } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../gateway.ts'
import { type App, appItem } from './app.ts'

/** All apps of the tenant, oldest first, inactive ones included. */
export async function listApps(gateway: Gateway, caller: Pick<Caller, 'tenantId'>): Promise<{ apps: App[] }> {
  const { reads } = gateway.database
  const rows = await reads
    .select()
    .from(apps)
    .where(eq(apps.tenantId, caller.tenantId))
    .orderBy(asc(apps.createdAt), asc(apps.seq))
  return { apps: rows.map(appItem) }
}
