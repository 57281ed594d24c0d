import type { Grant } from '../core/provider-settings.ts'
import { createHash } from 'node:crypto'
import { isoTime } from '../core/clock.ts'
import { checkClient } from './client-auth.ts'
import type { CodeGrant } from './codes.ts'
import { invalidGrant, oauthError, rateExceeded } from './errors.ts'
import { empty, json, type Call, type Reply } from './http.ts'
import { randomText } from './random.ts'
import type { Lifetimes, Session } from './sessions.ts'
import type { World } from './world.ts'

/** `POST /restapi/oauth/token` (RingCentral API reference, "Get token"): authorization code, refresh and JWT. */
export function token(world: World, call: Call): Reply {
  const refusal = checkClient(world, call)
  if (refusal !== null) return refusal
  const form = new URLSearchParams(call.body)
  const grant = GRANTS.get(form.get('grant_type') ?? '')
  if (grant === undefined) return oauthError(400, 'invalid_request', 'OAU-250', 'Unsupported grant type')
  if (!world.settings.grants.includes(grant.name))
    return oauthError(400, 'unauthorized_client', 'OAU-251', 'Unauthorized for this grant type')
  return grant.answer(world, form)
}

/** `POST /restapi/oauth/revoke` (same reference, "Revoke token"): ends the session of the token. */
export function revoke(world: World, call: Call): Reply {
  const refusal = checkClient(world, call)
  if (refusal !== null) return refusal
  const value = new URLSearchParams(call.body).get('token') ?? call.query.get('token') ?? ''
  return limited(world, world.sessions.ownerOf(value), () => {
    world.sessions.revoke(value)
    return empty(200)
  })
}

/** The extension of a token or revoke request, if it is known. */
export function ownerOfForm(world: World, call: Call): number | null {
  const form = new URLSearchParams(call.body)
  const grant = world.codes.find(form.get('code') ?? '')
  if (typeof grant === 'object') return grant.extensionId
  const jwt = form.get('assertion')
  if (jwt !== null) return world.jwts.ownerOf(jwt, world.client.id)
  return world.sessions.ownerOf(form.get('refresh_token') ?? form.get('token') ?? '')
}

interface GrantType {
  name: Grant
  answer(world: World, form: URLSearchParams): Reply
}

/** By `grant_type`. */
const GRANTS: ReadonlyMap<string, GrantType> = new Map([
  ['authorization_code', { name: 'authorization_code', answer: exchangeCode }],
  ['refresh_token', { name: 'refresh_token', answer: refreshTokens }],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', { name: 'jwt', answer: exchangeJwt }],
])

function exchangeCode(world: World, form: URLSearchParams): Reply {
  const code = form.get('code') ?? ''
  const grant = world.codes.find(code)
  if (grant === 'expired') return invalidGrant('OAU-108', 'Authorization code is expired')
  if (grant === 'unknown') return invalidGrant('OAU-106', 'Invalid authorization code')
  return limited(world, grant.extensionId, () => {
    if (grant.redirectUri !== form.get('redirect_uri')) return invalidGrant('OAU-109', 'Redirect URIs do not match')
    if (!verifies(grant, form.get('code_verifier'))) return invalidGrant('OAU-106', 'Invalid authorization code')
    const refusal = checkOwner(world, grant.extensionId)
    if (refusal !== null) return refusal
    world.codes.spend(code)
    return granted(world, openSession(world, grant, form))
  })
}

/**
 * RingCentral developer guide, "JWT auth flow". No public source has the code for a JWT that was deleted, has expired or is for
 * other apps. We assume the one of an unknown token; clients decide by `invalid_grant`.
 */
function exchangeJwt(world: World, form: URLSearchParams): Reply {
  const clientId = world.client.id
  const extensionId = world.jwts.ownerOf(form.get('assertion') ?? '', clientId)
  if (extensionId === null) return invalidGrant('OAU-213', 'Token not found')
  return limited(
    world,
    extensionId,
    () => checkOwner(world, extensionId) ?? granted(world, openSession(world, { extensionId, clientId }, form)),
  )
}

/** PKCE (RFC 7636, section 4.6). */
function verifies({ challenge }: CodeGrant, verifier: string | null): boolean {
  if (challenge === null) return true
  if (verifier === null) return false
  if (challenge.method === 'plain') return verifier === challenge.value
  return createHash('sha256').update(verifier).digest('base64url') === challenge.value
}

function openSession(
  world: World,
  { extensionId, clientId }: Pick<CodeGrant, 'extensionId' | 'clientId'>,
  form: URLSearchParams,
): Session {
  const { sessionSeconds, sessionIdleSeconds } = world.settings
  return world.sessions.open({
    extensionId,
    clientId,
    endpointId: form.get('endpoint_id') ?? randomText(16),
    lifetimes: { ...lifetimesOf(world, form), sessionSeconds, sessionIdleSeconds },
  })
}

function refreshTokens(world: World, form: URLSearchParams): Reply {
  const refreshToken = form.get('refresh_token') ?? ''
  const owner = world.sessions.ownerOf(refreshToken)
  return limited(world, owner, () => {
    const refusal = owner === null ? null : checkOwner(world, owner)
    if (refusal !== null) return refusal
    const outcome = world.sessions.refresh(refreshToken, world.client.id)
    if (outcome === 'unknown') return invalidGrant('OAU-213', 'Token not found')
    if (outcome === 'expired') return invalidGrant('OAU-210', 'Token expired')
    if (outcome === 'revoked') return invalidGrant('OAU-211', 'Token revoked')
    return granted(world, outcome)
  })
}

function checkOwner(world: World, extensionId: number): Reply | null {
  const status = world.directory.extension(extensionId)?.status
  if (status === 'Enabled') return null
  if (status === 'Disabled' || status === 'Frozen') return invalidGrant('OAU-236', 'Extension is disabled or frozen')
  if (status === undefined || status === 'Deleted') return invalidGrant('OAU-232', 'Extension not found')
  return invalidGrant('OAU-141', 'Login for extension in current state is not allowed.')
}

/** Applies the limit of the throttling group Auth. A token without an owner is not counted. */
function limited(world: World, extensionId: number | null, answer: () => Reply): Reply {
  if (extensionId === null) return answer()
  const rate = world.rateLimit.take(`${extensionId} ${world.client.id}`, 'auth')
  if (!rate.allowed) return rateExceeded(rate.headers)
  const reply = answer()
  return { ...reply, headers: { ...reply.headers, ...rate.headers } }
}

const MIN_ACCESS_SECONDS = 600
const MAX_ACCESS_SECONDS = 3600
const MAX_REFRESH_SECONDS = 2_592_000

/** `access_token_ttl` is clamped. An out-of-range `refresh_token_ttl` is replaced by the default. */
function lifetimesOf(world: World, form: URLSearchParams): Pick<Lifetimes, 'accessSeconds' | 'refreshSeconds'> {
  const access = Number(form.get('access_token_ttl'))
  const refresh = Number(form.get('refresh_token_ttl'))
  const refreshFits = refresh >= 1 && refresh <= MAX_REFRESH_SECONDS
  return {
    accessSeconds:
      access > 0
        ? Math.min(MAX_ACCESS_SECONDS, Math.max(MIN_ACCESS_SECONDS, access))
        : world.settings.accessTokenSeconds,
    refreshSeconds: refreshFits ? refresh : world.settings.refreshTokenSeconds,
  }
}

function granted(world: World, session: Session): Reply {
  const { current, lifetimes } = session
  const refresh = {
    refresh_token: current.refreshToken,
    refresh_token_expires_in: lifetimes.refreshSeconds,
  }
  return json(200, {
    access_token: current.accessToken,
    token_type: 'bearer',
    expires_in: lifetimes.accessSeconds,
    ...(world.settings.issueRefreshTokens ? refresh : {}),
    scope: world.settings.permissions.join(' '),
    owner_id: String(session.extensionId),
    endpoint_id: session.endpointId,
    session_id: session.id,
    ...sessionEnd(world, session),
  })
}

/** Only where the administrator enforces an end of sessions (RingCentral API reference, `TokenInfo`). */
function sessionEnd({ clock }: World, { endsAt, lifetimes }: Session): Record<string, unknown> {
  const { sessionIdleSeconds } = lifetimes
  const left = endsAt === null ? 0 : Math.floor((endsAt - clock.now()) / 1000)
  return {
    ...(endsAt === null ? {} : { session_expires_in: left, session_expiration_time: isoTime(endsAt) }),
    ...(sessionIdleSeconds === null ? {} : { session_idle_timeout: sessionIdleSeconds }),
  }
}
