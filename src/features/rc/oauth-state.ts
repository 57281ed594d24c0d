import { and, eq, gt, inArray, isNull } from 'drizzle-orm'
import { oauthStates } from '../../db/schema/connections.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'

/** Why a link or a state was refused. For the log only: the response is the same for all of them. */
export type RefusalReason = 'unknown' | 'used' | 'expired' | 'tenant_not_active'

/** The name of the tenant that this state would connect, or null if the state is not valid. Does not consume it. */
export async function readStateTenant(gateway: Gateway, state: string): Promise<string | null> {
  const [row] = await gateway.database.orm
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

/** A state whose authorization goes on. */
export interface ConsumedState {
  stateHash: string
  tenantId: string
  codeVerifier: string
}

/** Consumes a state. Null if it is unknown, used or expired, or its tenant is not active. */
export async function consumeState(gateway: Gateway, state: string): Promise<ConsumedState | null> {
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
  const stateHash = String(row['state_hash'])
  const context = { tenantId, row: stateHash, purpose: 'pkce' } as const
  return { stateHash, tenantId, codeVerifier: await gateway.secrets.decrypt(String(row['code_verifier']), context) }
}

/** Marks the state that has connected an extension, in the commit that does: it expires with its use, as no other state does. */
export const markConnected = ({ stateHash, tenantId }: ConsumedState, refreshToken: string): Statement => ({
  sql: `UPDATE oauth_states SET expires_at = used_at
    WHERE state_hash = ?1 AND EXISTS (SELECT 1 FROM extensions WHERE tenant_id = ?2 AND refresh_token = ?3)`,
  args: [stateHash, tenantId, refreshToken],
})

/** Logs why a state was refused. Returns whether it has connected an extension, as when the page of the result is loaded again. */
export async function logRefusedState(gateway: Gateway, state: string, requestId: string): Promise<boolean> {
  const [row] = await gateway.database.orm
    .select({ tenantId: oauthStates.tenantId, usedAt: oauthStates.usedAt, expiresAt: oauthStates.expiresAt })
    .from(oauthStates)
    .where(inArray(oauthStates.stateHash, gateway.secrets.hashes(state)))
  const why = refusalReason(row, gateway.clock.now())
  gateway.log.warn({ requestId, why, tenantId: row?.tenantId ?? null }, 'OAuth state refused')
  return row !== undefined && row.usedAt === row.expiresAt
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
