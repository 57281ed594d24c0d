/** What only an operator may see: who uses the gateway. */
export interface Tenant {
  tenantId: string
  name: string
  status: 'active' | 'suspended' | 'inactive'
}

/** A tenant in the list of all, with its active apps, and its extensions that are not revoked. */
export interface TenantItem extends Tenant {
  apps: number
  extensions: number
  createdAt: string
}

export interface TenantPage {
  tenants: TenantItem[]
  total: number
  page: number
  limit: number
}

export interface OpenedSession {
  sessionId: string
  token: string
  expiresAt: string
}
