import { z } from 'zod'
import type { AuthorizeRequest, CodeExchange, TokenPair } from '../grants.ts'
import type { ProviderResult } from '../provider.ts'
import { ownFailure } from './errors.ts'
import type { Call, ReadResult, Requester } from './request.ts'
import { optionalSeconds, wireId, wireSeconds } from './wire-text.ts'

/** RFC 6749 4.1.1 with PKCE (RFC 7636). `scope` is left out: the app's registered permissions apply. */
export function authorizeUrl(server: string, clientId: string, request: AuthorizeRequest): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: request.redirectUri,
    state: request.state,
    code_challenge: request.codeChallenge,
    code_challenge_method: 'S256',
  })
  return `${server}/restapi/oauth/authorize?${query.toString()}`
}

export function exchangeCode(requester: Requester, request: CodeExchange): Promise<ProviderResult<TokenPair>> {
  const form = {
    grant_type: 'authorization_code',
    code: request.code,
    redirect_uri: request.redirectUri,
    code_verifier: request.codeVerifier,
  }
  return lastingSession(requester, form, [request.code, request.codeVerifier])
}

/** RFC 7523 2.1; RingCentral calls it the JWT auth flow. The JWT can also open the next session, so no refresh token is needed. */
export function exchangeJwt(requester: Requester, jwt: string): Promise<ProviderResult<TokenPair>> {
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: jwt }
  // The provider may name only a part of it.
  return sessionOf(requester, form, [jwt, ...jwt.split('.').filter((part) => part.length >= MIN_PART_LENGTH)])
}

const MIN_PART_LENGTH = 16

export function refresh(
  requester: Requester,
  refreshToken: string,
  isKeptByJwt: boolean,
): Promise<ProviderResult<TokenPair>> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
  return (isKeptByJwt ? sessionOf : lastingSession)(requester, form, [refreshToken])
}

export function revoke(requester: Requester, revoked: string): Promise<ProviderResult<void>> {
  const form = { token: revoked }
  return requester.perform({
    method: 'POST',
    path: '/restapi/oauth/revoke',
    as: 'client',
    form,
    credentials: [revoked],
  })
}

/** The tokens of a session that only its refresh token keeps alive. */
async function lastingSession(...grant: Parameters<typeof sessionOf>): Promise<ProviderResult<TokenPair>> {
  const opened = await sessionOf(...grant)
  if (!opened.ok || opened.value.refreshToken !== null) return opened
  return { ok: false, failure: { ...NO_REFRESH_TOKEN, requestId: opened.requestId } }
}

async function sessionOf(
  requester: Requester,
  form: Record<string, string>,
  credentials: string[],
): Promise<ReadResult<TokenPair>> {
  const call: Call = { method: 'POST', path: '/restapi/oauth/token', as: 'client', form, credentials }
  const answered = await requester.read(call, tokenSchema)
  if (!answered.ok) return answered
  const { value, requestId } = answered
  const pair: TokenPair = {
    accessToken: value.access_token,
    expiresInSeconds: value.expires_in,
    refreshToken: value.refresh_token || null,
    refreshExpiresInSeconds: value.refresh_token_expires_in,
    sessionEndsInSeconds: value.session_expires_in,
    ownerId: value.owner_id,
  }
  return { ok: true, value: pair, requestId }
}

/** The provider's documented default lifetimes, for answers without one. */
const ACCESS_TOKEN_SECONDS = 3600
const REFRESH_TOKEN_SECONDS = 604_800

/** The code of a failure: the app is not configured to get refresh tokens. */
export const NO_REFRESH_TOKEN_CODE = 'ERR_NO_REFRESH_TOKEN'

const NO_REFRESH_TOKEN = {
  ...ownFailure(
    'rejected',
    'The provider issued no refresh token: tick "Issue refresh tokens" in the settings of the RingCentral app',
  ),
  status: 200,
  code: NO_REFRESH_TOKEN_CODE,
}

/** `TokenInfo` of the RingCentral OpenAPI. Tokens must be usable in a header. */
const tokenSchema = z.looseObject({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: wireSeconds(ACCESS_TOKEN_SECONDS),
  refresh_token: z.string().nullish(),
  refresh_token_expires_in: wireSeconds(REFRESH_TOKEN_SECONDS),
  /** Only if the account's administrator limits sessions. */
  session_expires_in: optionalSeconds,
  owner_id: wireId,
})
