import type { App, RegisteredApp, RotatedKey, Sgw } from '../../../client/client.ts'
import type { Tenant } from '../state/operator.ts'

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

export const readTenants = (sgw: Sgw, page: number): Promise<TenantPage> =>
  sgw.request('GET', '/v1/operator/tenants', { query: { page, limit: 100 } })

export const createTenant = (sgw: Sgw, name: string): Promise<Tenant> =>
  sgw.request('POST', '/v1/operator/tenants', { body: { name } })

export const setTenantStatus = (sgw: Sgw, { tenantId, status }: Omit<Tenant, 'name'>): Promise<Tenant> =>
  sgw.request('PUT', `/v1/operator/tenants/${tenantId}`, { body: { status } })

interface JwtToConnect {
  tenantId: string
  jwt: string
}

export const connectByJwt = (sgw: Sgw, body: JwtToConnect): Promise<unknown> =>
  sgw.request('POST', '/v1/operator/extensions', { body })

export interface AppToCreate {
  tenantId: string
  name: string
  webhookUrl: string | null
}

/** What can be done with apps: an operator can change each app, an app's key only its own. */
export interface AppCalls {
  create(app: AppToCreate): Promise<RegisteredApp>
  rotateKey(app: App): Promise<RotatedKey>
  deactivate(app: App): Promise<unknown>
  /** Null if only an operator may. */
  activate: ((app: App) => Promise<RotatedKey>) | null
}

/** As an operator, regardless of the app that the console acts as. */
export const callsOfOperator = (sgw: Sgw): AppCalls => {
  const post = <Answer>({ appId }: App, verb: string): Promise<Answer> =>
    sgw.request('POST', `/v1/operator/apps/${appId}/${verb}`)
  return {
    create: (app) => sgw.request('POST', '/v1/operator/apps', { body: app }),
    rotateKey: (app) => post(app, 'rotate-key'),
    deactivate: (app) => post(app, 'deactivate'),
    activate: (app) => post(app, 'activate'),
  }
}

/** With an app's key. */
export const callsOfKey = (sgw: Sgw): AppCalls => ({
  create: (app) => sgw.apps.register(app),
  rotateKey: ({ appId }) => sgw.apps.rotateKey(appId),
  deactivate: ({ appId }) => sgw.apps.deactivate(appId),
  activate: null,
})
