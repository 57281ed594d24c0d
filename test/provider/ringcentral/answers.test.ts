import { describe, expect, test } from 'bun:test'
import type { Provider, ProviderResult } from '../../../src/provider/provider.ts'
import { ACCESS_TOKEN, clientOf, errorBody, httpServer } from './servers.ts'

// What each answer means, on each call. A refusal counts as RingCentral's only in its own form; anything else may come from a proxy,
// a firewall or a CDN on the way.

/**
 * - `refused`: RingCentral's own refusal, for good
 * - `turned away`: something else refused, nothing was done, so the call is tried again
 * - `token`: the access token is replaced, and the call repeated
 * - `later`: too many calls, nothing was done
 * - `down`: RingCentral's own 503, nothing was done
 * - `unclear`: it may have been done
 * - `done`: it counts as done
 */
const MEANINGS = {
  rejected: 'refused',
  intercepted: 'turned away',
  unauthorized: 'token',
  rate_limited: 'later',
  unavailable: 'down',
  ambiguous: 'unclear',
  unreachable: 'unreachable',
}

const TABLE = `
status form    | send        | exchange    | refresh     | revoke      | extension   | numbers     | create      | renew       | get         | list        | delete      | messages    | media
302    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
302    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
307    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
307    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
400    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
400    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
401    own     | token       | refused     | refused     | refused     | token       | token       | token       | token       | token       | token       | token       | token       | token
401    another | token       | turned away | turned away | turned away | token       | token       | token       | token       | token       | token       | token       | token       | token
403    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
403    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
404    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | done        | refused     | refused
404    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
405    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
405    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
407    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
407    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
408    own     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
408    another | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
413    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
413    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
421    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
421    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
425    own     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused     | refused
425    another | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away | turned away
429    own     | later       | later       | later       | later       | later       | later       | later       | later       | later       | later       | later       | later       | later
429    another | later       | later       | later       | later       | later       | later       | later       | later       | later       | later       | later       | later       | later
500    own     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
500    another | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
502    own     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
502    another | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
503    own     | down        | down        | down        | down        | down        | down        | down        | down        | down        | down        | down        | down        | down
503    another | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
504    own     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
504    another | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | unclear
200    own     | unclear     | unclear     | unclear     | done        | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | done        | unclear     | done
200    another | unclear     | unclear     | unclear     | done        | unclear     | unclear     | unclear     | unclear     | unclear     | unclear     | done        | unclear     | done
`

const REFRESH_TOKEN = 'refresh-token-0123456789'
const SMS = { from: '+16505550101', to: '+16505550123', text: 'Hello' }
const SUBSCRIPTION = {
  topic: 'messages',
  address: 'https://gw.example.com/v1/webhooks/provider',
  verificationToken: 'a'.repeat(32),
} as const
const CODE = { code: 'c', codeVerifier: 'v', redirectUri: 'https://gw.example.com/v1/rc/callback' }
const TOKEN_CALLS = ['exchange', 'refresh', 'revoke']

type Call = (provider: Provider, url: string) => Promise<ProviderResult<unknown>>

const CALLS: Record<string, Call> = {
  send: (provider) => provider.sendSms(ACCESS_TOKEN, SMS),
  exchange: (provider) => provider.exchangeCode(CODE),
  refresh: (provider) => provider.refresh(REFRESH_TOKEN),
  revoke: (provider) => provider.revoke(REFRESH_TOKEN),
  extension: (provider) => provider.getExtension(ACCESS_TOKEN),
  numbers: (provider) => provider.listNumbers(ACCESS_TOKEN),
  create: (provider) => provider.createSubscription(ACCESS_TOKEN, SUBSCRIPTION),
  renew: (provider) => provider.renewSubscription(ACCESS_TOKEN, 'id'),
  get: (provider) => provider.getSubscription(ACCESS_TOKEN, 'id'),
  list: (provider) => provider.listSubscriptions(ACCESS_TOKEN),
  delete: (provider) => provider.deleteSubscription(ACCESS_TOKEN, 'id'),
  messages: (provider) => provider.listMessages(ACCESS_TOKEN, { direction: 'Outbound', since: 0, skipped: () => {} }),
  media: (provider, url) => provider.readAttachment(ACCESS_TOKEN, attachmentAt(url)),
}

const attachmentAt = (url: string) => ({
  attachmentId: '1',
  contentType: 'image/jpeg',
  size: null,
  fileName: null,
  uri: `${url}/restapi/v1.0/account/1/extension/2/message-store/3/content/1`,
})

/** Bodies in the provider's form, the OAuth endpoints' included. */
const ownBodies = (isToken: boolean): Record<string, string> => ({
  'with both codes': JSON.stringify(errorBody('CMN-101', 'Parameter value is invalid.')),
  'with errors alone': JSON.stringify({ errors: [{ errorCode: 'CMN-101', message: 'Parameter value is invalid.' }] }),
  'with the old code alone': JSON.stringify({ errorCode: 'InvalidParameter', message: 'Parameter value is invalid.' }),
  ...(isToken ? { 'of OAuth': JSON.stringify({ error: 'invalid_request', error_description: 'Unsupported' }) } : {}),
})

/** Bodies of something else. */
const otherBodies = (isToken: boolean): Record<string, string | Uint8Array<ArrayBuffer>> => ({
  HTML: '<html><head><title>403 Forbidden</title></head><body>Request blocked.</body></html>',
  empty: '',
  'JSON of another shape': JSON.stringify({ status: 403, message: 'Forbidden', path: '/sms' }),
  'JSON:API': JSON.stringify({ errors: [{ status: '403', title: 'Forbidden', detail: 'Blocked' }] }),
  'a list of texts': JSON.stringify({ errors: ['Blocked'], message: 'Forbidden' }),
  'an empty list': JSON.stringify({ errors: [], errorCode: '' }),
  'a JSON text': '"CMN-101"',
  'JSON that breaks off': '{"errorCode":"CMN-101","message":"Para',
  'gzip that nobody asked for': Bun.gzipSync(JSON.stringify(errorBody('CMN-101', 'Parameter value is invalid.'))),
  'an errorCode that is a number': JSON.stringify({
    errorCode: 403,
    message: 'Forbidden',
    errors: [{ errorCode: 403 }],
  }),
  'an errorCode that is an object': JSON.stringify({
    errorCode: { id: 'CMN-101' },
    errors: [{ errorCode: ['CMN-101'] }],
  }),
  'an errorCode of blanks': JSON.stringify({ errorCode: ' \t', errors: [{ errorCode: '\u0001' }] }),
  ...(isToken
    ? { 'an error that is an object': JSON.stringify({ error: { code: 403 } }) }
    : { 'an OAuth error': JSON.stringify({ error: 'invalid_grant', error_description: 'Token not found' }) }),
})

interface Row {
  status: number
  form: string
  meanings: [call: string, meaning: string][]
}

const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim())

function rowsOf(table: string): Row[] {
  const [head = '', ...lines] = table.trim().split('\n')
  const calls = cells(head).slice(1)
  return lines.map((line) => {
    const [answer = '', ...meanings] = cells(line)
    const [status, form = ''] = answer.split(/ +/)
    return { status: Number(status), form, meanings: calls.map((call, at) => [call, meanings[at] ?? '']) }
  })
}

/** What the call makes of the answer. */
async function meaningOf(call: string, { status, form }: Row, body: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const headers = { location: 'https://elsewhere.example/', 'content-type': 'text/html' }
  using server = httpServer(() => new Response(body, { status, headers }))
  const result = await CALLS[call]?.(clientOf(server.url), server.url)
  expect(server.requests).toHaveLength(1)
  if (result === undefined || result.ok) return 'done'
  // Only a code tells the provider's own answers from others.
  const { reason, code } = result.failure
  if (status !== 200) expect(code !== null).toBe(form === 'own')
  return MEANINGS[reason]
}

describe.each(rowsOf(TABLE))('$status in $form form', (row) => {
  test.each(row.meanings)('%s: %s', async (call, meaning) => {
    const isToken = TOKEN_CALLS.includes(call)
    const bodies = row.form === 'own' ? ownBodies(isToken) : otherBodies(isToken)
    const met = Object.entries(bodies).map(async ([name, body]) => [name, await meaningOf(call, row, body)] as const)
    expect(Object.fromEntries(await Promise.all(met))).toEqual(
      Object.fromEntries(Object.keys(bodies).map((name) => [name, meaning])),
    )
  })
})

describe('an OAuth error counts only in a 4xx', () => {
  const body = JSON.stringify({ error: 'invalid_grant', error_description: 'Token not found' })
  test.each([
    [400, 'invalid_grant'],
    [401, 'invalid_grant'],
    [403, 'invalid_grant'],
    [302, null],
    [408, null],
    [429, null],
    [500, null],
    [502, null],
    [503, null],
    [504, null],
  ])('%d: %p', async (status, oauthError) => {
    using server = httpServer(() => new Response(body, { status }))
    const refreshed = await clientOf(server.url).refresh(REFRESH_TOKEN)
    expect(refreshed.ok ? 'ok' : refreshed.failure.oauthError).toBe(oauthError)
  })
})
