import type { App } from '../../../client/client.ts'
import { asOperator, readTenants } from '../state/caller.ts'

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
