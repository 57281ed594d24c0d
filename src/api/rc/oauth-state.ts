import { type SQL, and, eq, exists, gt, inArray, isNull } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { type connectTokens, extensions, oauthStates } from '../../db/schema/connections.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** Why a link or a state was refused. For the log only: the response is the same for all of them. */
export type RefusalReason = 'unknown' | 'used' | 'expired' | 'tenant_not_active'

/** The name of the tenant that this state would connect, or null if the state is not valid. Does not consume it. */
export async function readStateTenant(gateway: Gateway, state: string): Promise<string | null> {
  const [row] = await gateway.database.orm
    .select({ tenantName: tenants.name })
    .from(oauthStates)
    .innerJoin(tenants, eq(tenants.id, oauthStates.tenantId))
    .where(and(isOfState(gateway, state), isUsable(gateway, oauthStates)))
  return row?.tenantName ?? null
}

/** A state whose authorization continues. */
export interface ConsumedState {
  stateHash: string
  tenantId: string
  codeVerifier: string
}

/** Consumes a state. Null if it is unknown, used or expired, or its tenant is not active. */
export async function consumeState(gateway: Gateway, state: string): Promise<ConsumedState | null> {
  const [used] = await gateway.database.orm
    .update(oauthStates)
    .set({ usedAt: gateway.clock.now() })
    .where(and(isOfState(gateway, state), isUsable(gateway, oauthStates)))
    .returning()
  if (used === undefined) return null
  const { stateHash, tenantId, codeVerifier } = used
  const context = { tenantId, row: stateHash, purpose: 'pkce' } as const
  return { stateHash, tenantId, codeVerifier: await gateway.secrets.decrypt(codeVerifier, context) }
}

const isOfState = ({ secrets }: Gateway, state: string): SQL => inArray(oauthStates.stateHash, secrets.hashes(state))

/**
 * The row of a link or state has not been used and has not expired, and its tenant is active. An UPDATE on this condition lets only one
 * of several simultaneous tries use it.
 */
export const isUsable = (
  { database, clock }: Gateway,
  { usedAt, expiresAt, tenantId }: typeof connectTokens | typeof oauthStates,
): SQL | undefined =>
  and(
    isNull(usedAt),
    gt(expiresAt, clock.now()),
    exists(
      database.orm
        .select({ id: tenants.id })
        .from(tenants)
        .where(and(eq(tenants.id, tenantId), eq(tenants.status, 'active'))),
    ),
  )

/** Marks the state that has connected an extension, in the same commit: unlike other states, it expires with its use. */
export function markConnected({ orm }: Database, { stateHash, tenantId }: ConsumedState, refreshToken: string) {
  const connected = orm
    .select({ id: extensions.extensionId })
    .from(extensions)
    .where(and(eq(extensions.tenantId, tenantId), eq(extensions.refreshToken, refreshToken)))
  return orm
    .update(oauthStates)
    .set({ expiresAt: oauthStates.usedAt })
    .where(and(eq(oauthStates.tenantId, tenantId), eq(oauthStates.stateHash, stateHash), exists(connected)))
}

/** Logs why a state was refused. Returns whether it has connected an extension, as when the page of the result is loaded again. */
export async function logRefusedState(gateway: Gateway, state: string, requestId: string): Promise<boolean> {
  const [row] = await gateway.database.orm
    .select({ tenantId: oauthStates.tenantId, usedAt: oauthStates.usedAt, expiresAt: oauthStates.expiresAt })
    .from(oauthStates)
    .where(isOfState(gateway, state))
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
