import type { RegisteredApp, Sgw } from '../../../client/client.ts'
import type { Tenant } from '../state/operator.ts'

/** A session's token, and when it expires. */
export interface OpenedSession {
  sessionId: string
  token: string
  expiresAt: string
}

/** Opens a session; a null login asks for the one that development with the simulator grants. */
export const openSession = (sgw: Sgw, login: string | null): Promise<OpenedSession> =>
  sgw.request('POST', '/v1/operator/session', { body: login === null ? {} : { login } })

/** Creates a tenant. */
export const createTenant = (sgw: Sgw, name: string): Promise<Tenant> =>
  sgw.request('POST', '/v1/operator/tenants', { body: { name } })

/** Creates an app; only this answer has its key. */
export const createApp = (sgw: Sgw, app: { tenantId: string; name: string }): Promise<RegisteredApp> =>
  sgw.request('POST', '/v1/operator/apps', { body: app })
