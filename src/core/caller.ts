/** The app that sent a request, known by its key. Every query for it filters by its tenant. App and tenant are active, unless an operator reads. */
export interface Caller {
  appId: string
  tenantId: string
  /** Set if an operator acts as the app: the session, or null for a command on this machine. */
  sessionId?: string | null
}
