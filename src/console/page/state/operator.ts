import type { App, Sgw } from '../../../client/client.ts'

/** What only an operator may call. */
export interface Tenant {
  tenantId: string
  name: string
  status: 'active' | 'suspended' | 'inactive'
}

/** The first hundred tenants, oldest first. */
export const listTenants = async (sgw: Sgw): Promise<Tenant[]> =>
  (await sgw.request<{ tenants: Tenant[] }>('GET', '/v1/operator/tenants', { query: { limit: 100 } })).tenants

export const listAllApps = async (sgw: Sgw): Promise<App[]> =>
  (await sgw.request<{ apps: App[] }>('GET', '/v1/operator/apps')).apps
