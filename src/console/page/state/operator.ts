import type { Sgw } from '../../../client/client.ts'

/** The part of the client that only an operator may call. */
export interface Tenant {
  tenantId: string
  name: string
  status: 'active' | 'suspended' | 'inactive'
}

export const countTenants = async (sgw: Sgw): Promise<number> =>
  (await sgw.request<{ total: number }>('GET', '/v1/operator/tenants', { query: { limit: 1 } })).total
