import { and, eq, exists, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import { noteShortKey } from '../../auth/short-key.ts'
import { errorText } from '../../core/errors.ts'
import { operatorSessions } from '../../db/schema/operator.ts'
import { apps, tenants } from '../../db/schema/tenants.ts'
import { wsTokens } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { SocketAuth } from '../../messages/realtime/socket-holder.ts'

/** Checks the credential in a socket's first message. A wrong one counts as a failed attempt of the address. */
export async function authenticateSocket(
  gateway: Gateway,
  message: Record<string, unknown>,
  address: string,
): Promise<SocketAuth> {
  const byToken = message['token'] !== undefined && message['apiKey'] === undefined
  const refused = errorText(byToken ? 'badToken' : 'badKey')
  if (gateway.failedAttempts.blockedSeconds(address) > 0) return { ok: false, error: refused }
  const credential = byToken ? message['token'] : message['apiKey']
  const auth =
    typeof credential === 'string'
      ? await (byToken ? consumeToken(gateway, credential) : authenticateByKey(gateway, credential))
      : null
  if (auth === null) gateway.failedAttempts.note(address)
  return auth ?? { ok: false, error: refused }
}

async function authenticateByKey(gateway: Gateway, key: string): Promise<SocketAuth | null> {
  if (!key.startsWith('sgw_')) return null
  const holder = await gateway.keys.find(key)
  if (holder === null) {
    noteShortKey(gateway, key)
    return null
  }
  if (!holder.tenantActive) return { ok: false, error: errorText('badKey') }
  gateway.keys.noteUse(holder.appId)
  return { ok: true, appId: holder.appId, tenantId: holder.tenantId, session: null }
}

/** Consumes a token. The UPDATE lets only one of several simultaneous tries succeed. */
async function consumeToken(gateway: Gateway, token: string): Promise<SocketAuth | null> {
  if (!token.startsWith('wst_')) return null
  const { orm } = gateway.database
  const now = gateway.clock.steady()
  const { tokenHash, appId, tenantId, sessionId, usedAt, expiresAt } = wsTokens
  const activeApp = orm
    .select({ id: apps.id })
    .from(apps)
    .innerJoin(tenants, eq(tenants.id, apps.tenantId))
    .where(and(eq(apps.tenantId, tenantId), eq(apps.id, appId), eq(apps.isActive, true), eq(tenants.status, 'active')))
  const liveSession = orm
    .select({ expiresAt: operatorSessions.expiresAt })
    .from(operatorSessions)
    .where(and(eq(operatorSessions.id, sessionId), gt(operatorSessions.expiresAt, gateway.clock.now())))
  const [used] = await orm
    .update(wsTokens)
    .set({ usedAt: now })
    .where(
      and(
        inArray(tokenHash, gateway.secrets.hashes(token)),
        isNull(usedAt),
        gt(expiresAt, now),
        exists(activeApp),
        or(isNull(sessionId), exists(liveSession)),
      ),
    )
    .returning({ appId, tenantId, sessionId, sessionExpiresAt: sql<number | null>`${liveSession}` })
  return used === undefined ? null : holderOf(used)
}

type UsedToken = Pick<typeof wsTokens.$inferSelect, 'appId' | 'tenantId' | 'sessionId'> & {
  /** Null without a session. */
  sessionExpiresAt: number | null
}

const holderOf = ({ appId, tenantId, sessionId, sessionExpiresAt }: UsedToken): SocketAuth =>
  sessionId === null
    ? { ok: true, appId, tenantId, session: null }
    : { ok: true, appId: '', tenantId, session: { sessionId, expiresAt: sessionExpiresAt ?? 0 } }
