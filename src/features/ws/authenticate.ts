import { errorText } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import type { SocketAuth } from '../../realtime/socket-holder.ts'

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
  if (holder === null) return null
  if (!holder.tenantActive) return { ok: false, error: errorText('badKey') }
  gateway.keys.noteUse(holder.appId)
  return { ok: true, appId: holder.appId, tenantId: holder.tenantId, session: null }
}

/** Consumes a token. The UPDATE lets only one of several simultaneous tries succeed. */
async function consumeToken(gateway: Gateway, token: string): Promise<SocketAuth | null> {
  if (!token.startsWith('wst_')) return null
  const now = gateway.clock.steady()
  const [used] = await gateway.database.writer.write([
    {
      sql: `UPDATE ws_tokens SET used_at = ?2 WHERE token_hash IN (SELECT value FROM json_each(?1)) AND used_at IS NULL AND expires_at > ?2
          AND EXISTS (SELECT 1 FROM apps JOIN tenants ON tenants.id = apps.tenant_id
            WHERE apps.id = ws_tokens.app_id AND apps.is_active = 1 AND tenants.status = 'active')
          AND (session_id IS NULL OR session_id IN (SELECT id FROM operator_sessions WHERE operator_sessions.expires_at > ?3))
        RETURNING app_id, tenant_id, session_id,
          (SELECT expires_at FROM operator_sessions WHERE id = session_id) AS session_expires_at`,
      args: [JSON.stringify(gateway.secrets.hashes(token)), now, gateway.clock.now()],
    },
  ])
  const row = used?.rows[0]
  return row === undefined ? null : holderOf(row)
}

function holderOf(row: Record<string, unknown>): SocketAuth {
  const tenantId = String(row['tenant_id'])
  const sessionId = row['session_id']
  if (typeof sessionId !== 'string') return { ok: true, appId: String(row['app_id']), tenantId, session: null }
  return { ok: true, appId: '', tenantId, session: { sessionId, expiresAt: Number(row['session_expires_at']) } }
}
