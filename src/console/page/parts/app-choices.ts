import type { App, Sgw } from '../../../client/client.ts'
import { noteTenants, operator } from '../state/caller.ts'
import type { Tenant } from '../state/operator.ts'

/** An app that an operator can act as. */
export interface AppChoice {
  appId: string
  name: string
  tenantId: string
  tenantName: string
}

/** Reads the apps of all active tenants, the first tenant's first. */
export async function readChoices(): Promise<readonly AppChoice[]> {
  const sgw = operator.value
  if (sgw === null) return []
  const [tenants, apps] = await Promise.all([listTenants(sgw), listAllApps(sgw)])
  return tenants
    .filter(({ status }) => status === 'active')
    .flatMap(({ tenantId, name: tenantName }) =>
      apps
        .filter((app) => app.isActive && app.tenantId === tenantId)
        .map(({ appId, name }) => ({ appId, name, tenantId, tenantName })),
    )
}

/** The first hundred tenants, oldest first. */
export async function listTenants(sgw: Sgw): Promise<Tenant[]> {
  const query = { limit: 100 }
  const page = await sgw.request<{ tenants: Tenant[]; total: number }>('GET', '/v1/operator/tenants', { query })
  noteTenants(page.total)
  return page.tenants
}

const listAllApps = async (sgw: Sgw): Promise<App[]> =>
  (await sgw.request<{ apps: App[] }>('GET', '/v1/operator/apps')).apps
