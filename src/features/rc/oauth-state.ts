import type { Gateway } from '../../gateway.ts'

/** Why a link or a state was refused. For the log only: the response is the same for all of them. */
export type RefusalReason = 'unknown' | 'used' | 'expired' | 'tenant_not_active'

/** The name of the tenant that this state would connect, or null if the state is not valid. Does not consume it. */
export async function readStateTenant(gateway: Gateway, state: string): Promise<string | null> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT tenants.name FROM oauth_states JOIN tenants ON tenants.id = oauth_states.tenant_id
      WHERE state_hash IN (SELECT value FROM json_each(?1)) AND used_at IS NULL AND expires_at > ?2 AND tenants.status = 'active'`,
    args: [hashesOf(gateway, state), gateway.clock.now()],
  })
  return rows[0] === undefined ? null : String(rows[0]['name'])
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
      args: [hashesOf(gateway, state), now],
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
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT tenant_id, used_at, expires_at
      FROM oauth_states WHERE state_hash IN (SELECT value FROM json_each(?1))`,
    args: [hashesOf(gateway, state)],
  })
  const why = refusalReason(rows[0], gateway.clock.now())
  gateway.log.warn({ requestId, why, tenantId: tenantOf(rows[0]) }, 'OAuth state refused')
}

/** `row` has `used_at` and `expires_at` of the link or state; undefined if there is none. */
export function refusalReason(row: Record<string, unknown> | undefined, now: number): RefusalReason {
  if (row === undefined) return 'unknown'
  if (row['used_at'] !== null) return 'used'
  return Number(row['expires_at']) <= now ? 'expired' : 'tenant_not_active'
}

export const tenantOf = (row: Record<string, unknown> | undefined): string | null =>
  row === undefined ? null : String(row['tenant_id'])

const hashesOf = (gateway: Gateway, state: string): string => JSON.stringify(gateway.secrets.hashes(state))
