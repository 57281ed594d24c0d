import type { App } from '../../../client/client.ts'
import { asOperator, me, operator, readTenants } from '../state/caller.ts'
import { become } from './act-as.ts'

/** An app that an operator can act as. */
export interface AppChoice extends App {
  tenantName: string
}

/** Reads the active apps of all active tenants, the first tenant's first. */
export async function readChoices(): Promise<readonly AppChoice[]> {
  const [{ tenants }, apps] = await Promise.all([readTenants(), listApps()])
  const byTenant = Map.groupBy(apps, ({ tenantId }) => tenantId)
  return tenants.flatMap(({ tenantId, status }) => (status === 'active' ? (byTenant.get(tenantId) ?? []) : []))
}

/** The active apps of all tenants or of one, the oldest first. */
export async function listApps(tenantId?: string): Promise<AppChoice[]> {
  const query = { tenantId }
  const { apps } = await asOperator().request<{ apps: AppChoice[] }>('GET', '/v1/operator/apps', { query })
  return apps.filter(({ isActive }) => isActive)
}

/**
 * Acts as the oldest active app of a tenant, unless the console already acts for the tenant, or by then the tenant is no longer wanted.
 * Resolves with false if there is none.
 */
export async function enterTenant(tenantId: string, isWanted = (): boolean => true): Promise<boolean> {
  if (me.value?.tenantId === tenantId) return true
  // An app's key can act as no other one.
  const [app] = operator.value === null ? [] : await listApps(tenantId)
  if (app !== undefined && isWanted()) await become(app.appId)
  return app !== undefined
}
