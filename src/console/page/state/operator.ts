import type { App, RegisteredApp, Sgw } from '../../../client/client.ts'

/** What only an operator may call. */
export interface Tenant {
  tenantId: string
  name: string
  status: 'active' | 'suspended' | 'inactive'
}

/** What the simulator does with the next send; null: it goes well. */
export type SimulatorFault = null | '429' | '5xx-after' | 'slow' | 'opted-out'

/** One call between gateway and simulator, as the simulator recorded it. `out`: made by the gateway; `in`: made to it. */
export interface SimulatorCall {
  at: string
  durationMs: number
  direction: 'in' | 'out'
  route: string
  method: string
  path: string
  request: { headers: Record<string, string>; body: string }
  response: { status: number; headers: Record<string, string>; body: string } | null
  fault: string | null
  rcMessageId?: string
}

/** A session's token, and when it expires. */
export interface OpenedSession {
  sessionId: string
  token: string
  expiresAt: string
}

/** Opens a session; a null login asks for the one that development with the simulator grants. */
export const openSession = (sgw: Sgw, login: string | null): Promise<OpenedSession> =>
  sgw.request('POST', '/v1/operator/session', { body: login === null ? {} : { login } })

export const closeSession = (sgw: Sgw): Promise<void> => sgw.request('DELETE', '/v1/operator/session')

/** The first hundred tenants, oldest first. */
export const listTenants = async (sgw: Sgw): Promise<Tenant[]> =>
  (await sgw.request<{ tenants: Tenant[] }>('GET', '/v1/operator/tenants', { query: { limit: 100 } })).tenants

export const listAllApps = async (sgw: Sgw): Promise<App[]> =>
  (await sgw.request<{ apps: App[] }>('GET', '/v1/operator/apps')).apps

/** Texts as a contact. */
export const sendInbound = (
  sgw: Sgw,
  text: { from: string; to: string; text: string },
): Promise<{ rcMessageId: string }> => sgw.request('POST', '/v1/operator/simulator/inbound', { body: text })

export const getNextFault = async (sgw: Sgw): Promise<SimulatorFault> =>
  (await sgw.request<{ fault: SimulatorFault }>('GET', '/v1/operator/simulator/next')).fault

export const setNextFault = async (sgw: Sgw, fault: SimulatorFault): Promise<SimulatorFault> =>
  (await sgw.request<{ fault: SimulatorFault }>('PUT', '/v1/operator/simulator/next', { body: { fault } })).fault

/** Creates a tenant. */
export const createTenant = (sgw: Sgw, name: string): Promise<Tenant> =>
  sgw.request('POST', '/v1/operator/tenants', { body: { name } })

/** Creates an app; its key is in this answer alone. */
export const createApp = (sgw: Sgw, app: { tenantId: string; name: string }): Promise<RegisteredApp> =>
  sgw.request('POST', '/v1/operator/apps', { body: app })

/** The newest calls since a time, oldest first. */
export const listCalls = async (sgw: Sgw, query: { since: string; limit: number }): Promise<SimulatorCall[]> =>
  (await sgw.request<{ calls: SimulatorCall[] }>('GET', '/v1/operator/simulator/calls', { query })).calls
