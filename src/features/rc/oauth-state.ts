import { and, eq, gt, inArray, isNull } from 'drizzle-orm'
import { oauthStates } from '../../db/schema/connections.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../gateway.ts'

/** Why a link or a state was refused. For the log only: the response is the same for all of them. */
export type RefusalReason = 'unknown' | 'used' | 'expired' | 'tenant_not_active'

/** The name of the tenant that this state would connect, or null if the state is not valid. Does not consume it. */
export async function readStateTenant(gateway: Gateway, state: string): Promise<string | null> {
  const [row] = await gateway.database.reads
    .select({ tenantName: tenants.name })
    .from(oauthStates)
    .innerJoin(tenants, eq(tenants.id, oauthStates.tenantId))
    .where(
      and(
        inArray(oauthStates.stateHash, gateway.secrets.hashes(state)),
        isNull(oauthStates.usedAt),
        gt(oauthStates.expiresAt, gateway.clock.now()),
        eq(tenants.status, 'active'),
      ),
    )
  return row?.tenantName ?? null
}

/** Consumes a state. Null if it is unknown, used or expired, or its tenant is not active. */
export async function consumeState(
  gateway: Gateway,
  state: string,
): Promise<{ tenantId: string; codeVerifier: string } | null> {
  const now = gateway.clock.now()
  const [used] = await gateway.database.writer.write([
    {
      sql: `UPDATE oauth_states SET used_at = ?2 WHERE state_hash IN (SELECT value FROM json_each(?1))
        AND used_at IS NULL AND expires_at > ?2
        AND EXISTS (SELECT 1 FROM tenants WHERE tenants.id = oauth_states.tenant_id AND tenants.status = 'active')
        RETURNING state_hash, tenant_id, code_verifier`,
      args: [JSON.stringify(gateway.secrets.hashes(state)), now],
    },
  ])
  const row = used?.rows[0]
  if (row === undefined) return null
  const tenantId = String(row['tenant_id'])
  const context = { tenantId, row: String(row['state_hash']), purpose: 'pkce' } as const
  return { tenantId, codeVerifier: await gateway.secrets.decrypt(String(row['code_verifier']), context) }
}

/** Logs why a state was refused. */
export async function logRefusedState(gateway: Gateway, state: string, requestId: string): Promise<void> {
  const [row] = await gateway.database.reads
    .select({ tenantId: oauthStates.tenantId, usedAt: oauthStates.usedAt, expiresAt: oauthStates.expiresAt })
    .from(oauthStates)
    .where(inArray(oauthStates.stateHash, gateway.secrets.hashes(state)))
  const why = refusalReason(row, gateway.clock.now())
  gateway.log.warn({ requestId, why, tenantId: row?.tenantId ?? null }, 'OAuth state refused')
}

/** Why the link or state of this row is refused; `row` is undefined if there is none. */
export function refusalReason(
  row: { usedAt: number | null; expiresAt: number } | undefined,
  now: number,
): RefusalReason {
  if (row === undefined) return 'unknown'
  if (row.usedAt !== null) return 'used'
  return row.expiresAt <= now ? 'expired' : 'tenant_not_active'
}
