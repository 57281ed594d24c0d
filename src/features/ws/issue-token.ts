import type { Caller } from '../../auth/caller.ts'
import { WS_TOKEN_TTL_MS } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'

/** Issues a token that opens one WebSocket within 60 seconds, for browsers, which must not hold the key. */
export async function issueWsToken(gateway: Gateway, caller: Caller): Promise<{ token: string; expiresIn: number }> {
  const now = Math.floor(gateway.clock.steady())
  const token = `wst_${gateway.ids.secret()}`
  await gateway.database.writer.write([
    {
      sql: 'INSERT INTO ws_tokens (token_hash, app_id, tenant_id, expires_at) VALUES (?1, ?2, ?3, ?4)',
      args: [gateway.secrets.hash(token), caller.appId, caller.tenantId, now + WS_TOKEN_TTL_MS],
    },
    // Each issue deletes the expired tokens, so the table holds those of one minute.
    { sql: 'DELETE FROM ws_tokens WHERE expires_at <= ?1', args: [now] },
  ])
  return { token, expiresIn: WS_TOKEN_TTL_MS / 1000 }
}
