import { describe, expect, test } from 'bun:test'
import type { FailureReason } from '../../../src/provider/provider.ts'
import {
  ACCESS_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  clientOf,
  errorBody,
  failureOf,
  httpServer,
  tokenBody,
  valueOf,
} from './servers.ts'

const EXCHANGE = {
  code: 'the code/+=',
  codeVerifier: 'the-verifier',
  redirectUri: 'https://gw.example.com/v1/rc/callback?x=1',
}
const BASIC = `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`

test('the authorization address asks for a code with S256 and encodes every value', () => {
  const request = { state: 'a state&x=1', codeChallenge: 'challenge', redirectUri: EXCHANGE.redirectUri }
  const url = new URL(clientOf('https://platform.example.com/').authorizeUrl(request))
  expect(url.origin + url.pathname).toBe('https://platform.example.com/restapi/oauth/authorize')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: EXCHANGE.redirectUri,
    state: 'a state&x=1',
    code_challenge: 'challenge',
    code_challenge_method: 'S256',
  })
})

test('a path in the server address is kept', () => {
  const request = { state: 's', codeChallenge: 'c', redirectUri: 'https://x' }
  expect(clientOf('https://proxy.example.com/rc/').authorizeUrl(request)).toStartWith(
    'https://proxy.example.com/rc/restapi/oauth/authorize?',
  )
})

test('a code is exchanged with Basic authentication, a form and the verifier', async () => {
  using server = httpServer(() => Response.json(tokenBody()))
  expect(valueOf(await clientOf(server.url).exchangeCode(EXCHANGE))).toEqual({
    accessToken: ACCESS_TOKEN,
    expiresInSeconds: 3599,
    refreshToken: 'refresh-token-0123456789',
    refreshExpiresInSeconds: 604_799,
    sessionEndsInSeconds: null,
    ownerId: '629890016',
  })
  expect(server.requests).toHaveLength(1)
  const [seen] = server.requests
  expect(seen).toMatchObject({ method: 'POST', path: '/restapi/oauth/token' })
  expect(seen?.headers.get('authorization')).toBe(BASIC)
  expect(seen?.headers.get('content-type')).toBe('application/x-www-form-urlencoded')
  expect(seen?.headers.get('user-agent')).toBe('sgw/test')
  expect(Object.fromEntries(new URLSearchParams(seen?.body))).toEqual({
    grant_type: 'authorization_code',
    code: EXCHANGE.code,
    redirect_uri: EXCHANGE.redirectUri,
    code_verifier: EXCHANGE.codeVerifier,
  })
})

test('a refresh sends the refresh token and reads the new pair', async () => {
  using server = httpServer(() => Response.json(tokenBody({ access_token: 'new-a', refresh_token: 'new-r' })))
  const pair = valueOf(await clientOf(server.url).refresh('old/r+t'))
  expect(pair).toMatchObject({ accessToken: 'new-a', refreshToken: 'new-r' })
  const form = Object.fromEntries(new URLSearchParams(server.requests[0]?.body))
  expect(form).toEqual({ grant_type: 'refresh_token', refresh_token: 'old/r+t' })
})

test('a revocation sends the token and accepts an empty answer', async () => {
  using server = httpServer(() => new Response(''))
  expect(await clientOf(server.url).revoke('some-token')).toEqual({ ok: true, value: undefined })
  expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/restapi/oauth/revoke', body: 'token=some-token' })
  expect(server.requests[0]?.headers.get('authorization')).toBe(BASIC)
})

describe('missing or invalid lifetimes have the documented defaults', () => {
  test.each([[undefined], [null], [0], [-1], ['3600'], [{}], [1e14], [1e300]])('%p', async (value) => {
    using server = httpServer(() => Response.json(tokenBody({ expires_in: value, refresh_token_expires_in: value })))
    const pair = valueOf(await clientOf(server.url).refresh('r'))
    expect(pair).toMatchObject({ expiresInSeconds: 3600, refreshExpiresInSeconds: 604_800 })
  })
})

test('the owner may come as a number', async () => {
  using server = httpServer(() => Response.json(tokenBody({ owner_id: 629890016 })))
  expect(valueOf(await clientOf(server.url).refresh('r')).ownerId).toBe('629890016')
})

describe('an answer without a refresh token is refused', () => {
  test.each([[undefined], [null], ['']])('%p', async (value) => {
    using server = httpServer(() => Response.json(tokenBody({ refresh_token: value })))
    const failure = failureOf(await clientOf(server.url).exchangeCode(EXCHANGE))
    expect(failure).toMatchObject({ reason: 'rejected', status: 200 })
    expect(failure.message).toContain('tick "Issue refresh tokens"')
  })
})

describe('an unreadable pair is ambiguous', () => {
  const rows: [string, object][] = [
    ['no access token', { access_token: undefined }],
    ['an access token that cannot be sent in a header', { access_token: 'a\nb' }],
    ['an empty access token', { access_token: '' }],
    ['no owner', { owner_id: undefined }],
    ['an empty owner', { owner_id: '' }],
    ['a refresh token of another type', { refresh_token: 5 }],
  ]
  test.each(rows)('%s', async (_name, other) => {
    using server = httpServer(() => Response.json(tokenBody(other)))
    expect(failureOf(await clientOf(server.url).refresh('r'))).toMatchObject({ reason: 'ambiguous', status: 200 })
  })
})

describe('token errors', () => {
  const oauth = (error: string, errorCode: string, message: string) => ({
    error,
    errors: [{ errorCode, message }],
    error_description: message,
  })
  const rows: [status: number, body: object, reason: FailureReason, oauthError: string | null, code: string | null][] =
    [
      [400, oauth('invalid_grant', 'OAU-213', 'Token not found'), 'rejected', 'invalid_grant', 'OAU-213'],
      [
        400,
        { error: 'invalid_grant', error_description: 'Token expired' },
        'rejected',
        'invalid_grant',
        'invalid_grant',
      ],
      [401, oauth('invalid_client', 'OAU-146', 'Invalid client credentials'), 'rejected', 'invalid_client', 'OAU-146'],
      [403, oauth('invalid_client', 'OAU-167', 'Account access restricted'), 'rejected', 'invalid_client', 'OAU-167'],
      [400, errorBody('OAU-250', 'Unsupported grant type'), 'rejected', null, 'OAU-250'],
      [400, { error: { code: 1 } }, 'intercepted', null, null],
      [429, errorBody('CMN-301', 'Request rate exceeded'), 'rate_limited', null, 'CMN-301'],
      [
        503,
        { message: 'Service Unavailable', error: 'service_unavailable', error_description: 'Service Unavailable' },
        'unavailable',
        null,
        'service_unavailable',
      ],
      [500, oauth('server_error', 'CMN-203', 'Internal Server Error'), 'ambiguous', null, 'CMN-203'],
    ]
  test.each(rows)('%d %j is %s', async (status, body, reason, oauthError, code) => {
    using server = httpServer(() => Response.json(body, { status }))
    const client = clientOf(server.url)
    for (const result of [await client.refresh('grant'), await client.exchangeCode(EXCHANGE)]) {
      expect(failureOf(result)).toMatchObject({ reason, oauthError, code, status })
    }
  })
})
