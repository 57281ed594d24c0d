import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { CONNECT_TOKENS_PER_HOUR, CONNECT_TOKEN_TTL_MS, HOUR_MS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'

/**
 * Issues a single-use token that connects an extension: a connect token for the person at the screen, or an invite token
 * to send to somebody. A tenant may issue 100 of both kinds per hour. Errors: `tooMany`.
 */
export async function issueToken(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  kind: 'connect' | 'invite',
): Promise<{ connectUrl: string }> {
  const token = gateway.ids.secret()
  const now = gateway.clock.now()
  const ttlMs = kind === 'connect' ? CONNECT_TOKEN_TTL_MS : gateway.config.inviteTokenTtlMs
  const [inserted, oldest] = await gateway.database.writer.write([
    {
      sql: `INSERT INTO connect_tokens (token_hash, tenant_id, kind, created_at, expires_at)
        SELECT ?1, ?2, ?3, ?4, ?5
        WHERE (SELECT count(*) FROM connect_tokens WHERE tenant_id = ?2 AND created_at > ?6 AND created_at <= ?4) < ?7
        RETURNING tenant_id`,
      args: [
        gateway.secrets.hash(token),
        caller.tenantId,
        kind,
        now,
        now + ttlMs,
        now - HOUR_MS,
        CONNECT_TOKENS_PER_HOUR,
      ],
    },
    {
      sql: 'SELECT min(created_at) AS at FROM connect_tokens WHERE tenant_id = ?1 AND created_at > ?2',
      args: [caller.tenantId, now - HOUR_MS],
    },
  ])
  if (inserted?.rows.length === 0) {
    const freeAt = Number(oldest?.rows[0]?.['at'] ?? now) + HOUR_MS
    throw apiError('tooMany', Math.max(1, Math.ceil((freeAt - now) / 1000)))
  }
  const { production, hasPublicUrl } = gateway.config
  if (production && !hasPublicUrl)
    gateway.log.warn({ tenantId: caller.tenantId, fix: NO_LINK }, 'RingCentral would refuse this link')
  return { connectUrl: `/v1/rc/connect?token=${token}` }
}

const NO_LINK = 'set PUBLIC_URL and restart, or connect the extension with a JWT (sgw extensions connect-jwt)'
