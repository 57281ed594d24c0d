import type { RevokedScope } from './hub.ts'

/** The owner of a socket. Before authentication the ids are empty. */
export interface SocketHolder {
  /** Empty for an operator, who hears the whole tenant. */
  appId: string
  tenantId: string
  /** The operator's session, and when it ends; null for an app. */
  session: { sessionId: string; expiresAt: number } | null
}

/** The holder of an authenticated socket, or the contract's error text. */
export type SocketAuth = ({ ok: true } & SocketHolder) | { ok: false; error: string }

/** Whether a revocation closes the holder's sockets. */
export function isMeant(scope: RevokedScope, { appId, tenantId, session }: SocketHolder): boolean {
  if ('appId' in scope) return appId === scope.appId
  if ('tenantId' in scope) return tenantId === scope.tenantId
  return session !== null && (scope.sessionId === null || scope.sessionId === session.sessionId)
}
