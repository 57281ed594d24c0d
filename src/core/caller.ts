/** The app that sent a request: active, of an active tenant, known by its key. Every query for it filters by its tenant. */
export interface Caller {
  appId: string
  tenantId: string
}
