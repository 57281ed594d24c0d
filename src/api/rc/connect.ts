import { and, eq, inArray } from 'drizzle-orm'
import { ApiError, apiError } from '../../core/errors.ts'
import { OAUTH_STATE_TTL_MS } from '../../core/limits.ts'
import { pkceChallenge } from '../../core/secrets.ts'
import { connectTokens, oauthStates } from '../../db/schema/connections.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { isUsable, refusalReason } from './oauth-state.ts'

const TOKEN = /^[A-Za-z0-9_-]{20,128}$/

/** Reads the tenant that this token would connect. Does not consume it. Errors: `missingToken`, `badToken`. */
export async function readConnectToken(
  gateway: Gateway,
  token: string | undefined,
  requestId: string,
): Promise<{ token: string; tenantName: string }> {
  const hashes = hashesOfToken(gateway, token)
  const [row] = await gateway.database.orm
    .select({ tenantName: tenants.name })
    .from(connectTokens)
    .innerJoin(tenants, eq(tenants.id, connectTokens.tenantId))
    .where(and(inArray(connectTokens.tokenHash, hashes), isUsable(gateway, connectTokens)))
  if (row === undefined || token === undefined) throw await refusal(gateway, hashes, requestId)
  return { token, tenantName: row.tenantName }
}

/** Consumes the token and begins an authorization. Errors: `missingToken`, `badToken`. */
export async function startConnect(
  gateway: Gateway,
  token: string | undefined,
  requestId: string,
): Promise<Authorization> {
  const hashes = hashesOfToken(gateway, token)
  const [used] = await gateway.database.orm
    .update(connectTokens)
    .set({ usedAt: gateway.clock.now() })
    .where(and(inArray(connectTokens.tokenHash, hashes), isUsable(gateway, connectTokens)))
    .returning({ tenantId: connectTokens.tenantId })
  if (used === undefined) throw await refusal(gateway, hashes, requestId)
  return beginAuthorization(gateway, used.tenantId)
}

/** Logs why the token was refused. The response does not say why. */
async function refusal(gateway: Gateway, hashes: readonly string[], requestId: string): Promise<ApiError> {
  const [row] = await gateway.database.orm
    .select({ tenantId: connectTokens.tenantId, usedAt: connectTokens.usedAt, expiresAt: connectTokens.expiresAt })
    .from(connectTokens)
    .where(inArray(connectTokens.tokenHash, hashes))
  const why = refusalReason(row, gateway.clock.now())
  gateway.log.warn({ requestId, why, tenantId: row?.tenantId ?? null }, 'connect link refused')
  return apiError('badToken')
}

export const CALLBACK_PATH = '/v1/rc/callback'

export const redirectUri = (gateway: Gateway): string => `${gateway.config.publicUrl}${CALLBACK_PATH}`

export interface Authorization {
  /** The provider's login page. */
  url: string
  /** The callback must carry it. It says which tenant the extension is connected to. */
  state: string
}

/** Stores a new state with its PKCE verifier, and creates the address of the login. */
export async function beginAuthorization(gateway: Gateway, tenantId: string): Promise<Authorization> {
  const state = gateway.ids.secret()
  const codeVerifier = gateway.ids.secret()
  const stateHash = gateway.secrets.hash(state)
  const encrypted = await gateway.secrets.encrypt(codeVerifier, { tenantId, row: stateHash, purpose: 'pkce' })
  const expiresAt = gateway.clock.now() + OAUTH_STATE_TTL_MS
  await gateway.database.orm.insert(oauthStates).values({ stateHash, tenantId, codeVerifier: encrypted, expiresAt })
  const codeChallenge = pkceChallenge(codeVerifier)
  return { url: gateway.provider.authorizeUrl({ state, codeChallenge, redirectUri: redirectUri(gateway) }), state }
}

function hashesOfToken(gateway: Gateway, token: string | undefined): string[] {
  if (token === undefined || token === '') throw apiError('missingToken')
  if (!TOKEN.test(token)) throw apiError('badToken')
  return gateway.secrets.hashes(token)
}

export const isTokenError = (error: unknown): error is ApiError => error instanceof ApiError && error.kind === 'invalid'
