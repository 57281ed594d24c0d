import { lte } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { WS_TOKEN_TTL_MS } from '../../core/limits.ts'
import { wsTokens } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** Issues a token that opens one WebSocket within 60 seconds, for browsers, which must not hold the key. */
export async function issueWsToken(gateway: Gateway, caller: Caller): Promise<{ token: string; expiresIn: number }> {
  const now = Math.floor(gateway.clock.steady())
  const token = `wst_${gateway.ids.secret()}`
  const row = {
    tokenHash: gateway.secrets.hash(token),
    appId: caller.appId,
    tenantId: caller.tenantId,
    expiresAt: now + WS_TOKEN_TTL_MS,
    sessionId: caller.sessionId ?? null,
  }
  const { orm } = gateway.database
  await orm.batch([
    orm.insert(wsTokens).values(row),
    // Each issue deletes the expired tokens, so the table holds those of one minute.
    orm.delete(wsTokens).where(lte(wsTokens.expiresAt, now)),
  ])
  return { token, expiresIn: WS_TOKEN_TTL_MS / 1000 }
}
