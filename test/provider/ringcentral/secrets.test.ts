import { describe, expect, test } from 'bun:test'
import type { Provider, ProviderResult } from '../../../src/provider/provider.ts'
import { hider } from '../../../src/provider/ringcentral/secrets.ts'
import {
  ACCESS_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  clientOf,
  failureOf,
  httpServer,
  rawServer,
  tokenBody,
} from './servers.ts'
import type { ReceivedRequest } from './servers.ts'

const REFRESH_TOKEN = 'U0pDMTFQ/token+0123456789='
const CODE = 'U0pDMTFQMDFQ (code)/+='
const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL3JjIn0.c2lnbmF0dXJlIG9mIHRoZSBjYW5hcnk'
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbU'
const VERIFICATION_TOKEN = 'k3J9fwQz81pLmN'
const TEXT = 'Your "code" is 4821,\ndo not tell anyone'
const BASIC = btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)
const SECRETS = [
  ACCESS_TOKEN,
  CLIENT_SECRET,
  BASIC,
  REFRESH_TOKEN,
  JWT,
  ...JWT.split('.'),
  CODE,
  VERIFIER,
  VERIFICATION_TOKEN,
  TEXT,
]

const calls: [name: string, call: (client: Provider) => Promise<ProviderResult<unknown>>][] = [
  [
    'exchangeCode',
    (client) => client.exchangeCode({ code: CODE, codeVerifier: VERIFIER, redirectUri: 'https://gw.example.com/cb' }),
  ],
  ['exchangeJwt', (client) => client.exchangeJwt(JWT)],
  ['refresh', (client) => client.refresh(REFRESH_TOKEN)],
  ['revoke', (client) => client.revoke(REFRESH_TOKEN)],
  ['getExtension', (client) => client.getExtension(ACCESS_TOKEN)],
  ['listNumbers', (client) => client.listNumbers(ACCESS_TOKEN)],
  ['sendSms', (client) => client.sendSms(ACCESS_TOKEN, { from: '+16505550101', to: '+16505550123', text: TEXT })],
  ['listMessages', (client) => client.listMessages(ACCESS_TOKEN, { direction: 'Inbound', since: 0 })],
  [
    'createSubscription',
    (client) =>
      client.createSubscription(ACCESS_TOKEN, {
        address: 'https://gw.example.com',
        verificationToken: VERIFICATION_TOKEN,
        topic: 'messages',
      }),
  ],
  ['getSubscription', (client) => client.getSubscription(ACCESS_TOKEN, 'id')],
  ['listSubscriptions', (client) => client.listSubscriptions(ACCESS_TOKEN)],
  ['renewSubscription', (client) => client.renewSubscription(ACCESS_TOKEN, 'id')],
  ['deleteSubscription', (client) => client.deleteSubscription(ACCESS_TOKEN, 'id')],
]

/** Returns every piece of a request, as sent and decoded. */
function piecesOf(seen: ReceivedRequest): string[] {
  const authorization = seen.headers.get('authorization')?.split(' ')[1] ?? ''
  const form = seen.body.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1))
  const read = seen.body.startsWith('{')
    ? leavesOf(JSON.parse(seen.body))
    : [...new URLSearchParams(seen.body).values()]
  const parts = read.filter((value) => value === JWT).flatMap((jwt) => jwt.split('.'))
  return [CLIENT_SECRET, authorization, seen.body, ...form, ...read, ...parts].filter((piece) => piece !== '')
}

const leavesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [String(value)]

/** Repeats one piece in every field from which a failure is filled. */
function errorWith(piece: string, padding: string): Response {
  const body = { error: piece, errors: [{ errorCode: piece, message: `${padding}${piece}` }] }
  return Response.json(body, { status: 400, headers: { RCRequestId: /^[\x20-\x7e]*$/.test(piece) ? piece : '' } })
}

function expectNoSecret(failure: object): void {
  const shown = leavesOf(failure).join('\n')
  for (const secret of SECRETS) {
    expect(shown).not.toContain(secret)
    // The beginning of a truncated secret must not be shown, either.
    expect(shown).not.toContain(secret.slice(0, 6))
  }
}

describe('no failure reveals a secret of its call', () => {
  test.each(calls)('%s, if the error repeats a piece of the call', async (_name, call) => {
    let piece = ''
    let padding = ''
    using server = httpServer(() => errorWith(piece, padding))
    const client = clientOf(server.url)
    await call(client)
    for (piece of server.requests.flatMap(piecesOf)) {
      // With the second padding, the limit of 300 characters cuts the piece.
      for (padding of ['', 'p'.repeat(288)]) expectNoSecret(failureOf(await call(client)))
    }
    expect(server.requests.length).toBeGreaterThan(4)
  })

  test('the other words of the provider are kept', async () => {
    const message = `Parameter [token] value [${ACCESS_TOKEN}] is invalid`
    using server = httpServer(() => Response.json({ errors: [{ errorCode: ACCESS_TOKEN, message }] }, { status: 400 }))
    const failure = failureOf(await clientOf(server.url).getExtension(ACCESS_TOKEN))
    expect(failure).toMatchObject({ code: '[redacted]', message: 'Parameter [token] value [[redacted]] is invalid' })
  })

  test.each(calls)('%s, if the success is unreadable', async (name, call) => {
    using server = httpServer((seen) => new Response(`${seen.headers.get('authorization')} ${seen.body}`))
    const result = await call(clientOf(server.url))
    const contentMatters = name !== 'revoke' && name !== 'deleteSubscription'
    expect(result.ok).toBe(!contentMatters)
    expectNoSecret(result)
  })

  test.each(calls)('%s, if there is no answer', async (_name, call) => {
    await using server = await rawServer((socket) => void socket.once('data', () => socket.resetAndDestroy()))
    expectNoSecret(failureOf(await call(clientOf(server.url))))
  })

  test('new tokens, if their answer lacks the owner', async () => {
    using server = httpServer(() => Response.json(tokenBody({ owner_id: undefined })))
    const failure = failureOf(await clientOf(server.url).refresh('old'))
    expect(JSON.stringify(failure)).not.toContain('token-0123456789')
  })
})

describe('redaction', () => {
  test('keeps the rest of the text', () => {
    expect(hider(['tok-1'])('Value [tok-1] is invalid, tok-1!')).toBe('Value [[redacted]] is invalid, [redacted]!')
  })

  test.each(['a b+"c', 'a%20b%2B%22c', 'a+b%2B%22c', 'a b+\\"c'])('covers the form %j', (form) => {
    expect(hider(['a b+"c'])(`<${form}>`)).toBe('<[redacted]>')
  })

  test('covers the longer of two credentials with the same beginning', () => {
    expect(hider(['tok', 'token-long'])('token-long')).toBe('[redacted]')
  })

  test('ignores empty credentials and a message of three characters', () => {
    expect(hider([''], 'is')('This is it')).toBe('This is it')
    expect(hider([''], 'code')('The code')).toBe('The [redacted]')
  })

  test('matches credentials literally', () => {
    expect(hider(['a.c$&'])('abc a.c$&')).toBe('abc [redacted]')
  })
})
