import type { z } from 'zod'
import { HOUR_MS } from '../../core/limits.ts'
import { uploadMs } from '../../core/upload-time.ts'
import type { ProxySettings } from '../../core/proxy.ts'
import type { ProviderResult } from '../provider.ts'
import { type Dial, type Downloading, dialProxy, dialSocket, download, textOf } from './download.ts'
import { networkFailure, ownFailure, parseJson, statusFailure, unreadableFailure } from './errors.ts'
import type { ProviderAnswer } from './errors.ts'
import { Lag } from './lag.ts'
import { retryAfterMs } from '../../net/http/retry-after.ts'
import type { Multipart } from './multipart.ts'
import { Rates, rateOf } from './rates.ts'
import { hider } from './secrets.ts'
import type { Hide } from './secrets.ts'
import { socketTransport } from './socket-transport.ts'
import { errorCode, fetchTransport } from './fetch-transport.ts'
import type { HttpAnswer, HttpRequest, SomeAnswer, Transport } from './transport.ts'

/** Makes all calls to the provider. Every call is bounded in time and size, and every failure is a value. */
export interface Requester {
  /** The provider's address without a trailing slash. */
  address: string
  /** For calls where only the status matters: the answer's content is dropped. */
  perform(call: Call): Promise<ProviderResult<void>>
  /** For calls whose answer is needed. A 2xx that `schema` cannot read is `ambiguous`. */
  read<T>(call: Call, schema: z.ZodType<T>): Promise<ReadResult<T>>
  /** For an answer that is streamed on, from an address that may get the token. */
  download(url: URL, accessToken: string, maxBytes: number): Promise<ProviderResult<Downloading>>
  /** How far the provider's clock was behind this machine's at its last answer. */
  lag: Lag
  rates: Rates
}

/** `requestId` is the provider's, for its support. */
export type ReadResult<T> = Exclude<ProviderResult<T>, { ok: true }> | { ok: true; value: T; requestId: string | null }

export interface Call {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below the server's address, for example `/restapi/v1.0/subscription`. */
  path: string
  query?: Record<string, string>
  /** A bearer token, or the client itself (HTTP Basic) at the OAuth endpoints. */
  as: { accessToken: string } | 'client'
  json?: unknown
  form?: Record<string, string>
  multipart?: Multipart
  /** Bytes of files in the body, which extend the time limit. */
  uploadedBytes?: number
  /** By default 256 KiB. */
  maxAnswerBytes?: number
  /** Credentials in this call's body, and an SMS text: a failure must contain neither. */
  credentials?: string[]
  messageText?: string
}

export interface RingCentralOptions {
  /** `https://platform.ringcentral.com`, or a partner's or a simulator's address. */
  serverUrl: string
  clientId: string
  clientSecret: string
  /** For each HTTP exchange, including the body. A list of several pages is several exchanges. */
  timeoutMs: number
  /** `<app>/<version>`. */
  userAgent: string
  /** Calls go through the proxy that the environment names. */
  throughProxy?: boolean
  /** The same for sockets, for which the runtime does not read the environment itself. */
  proxy?: ProxySettings | null
  /** Certificate authorities instead of the built-in ones, for tests. */
  ca?: string
  /** Epoch milliseconds; by default the system's clock. */
  now?: () => number
  /** Epoch milliseconds that never jump while the process runs; by default the wall clock. */
  steady?: () => number
}

/** Enough for a list of 1000 records. */
export const MAX_LIST_BYTES = 8 * 1024 * 1024
const MAX_ANSWER_BYTES = 256 * 1024

/** Throws if the configuration is wrong: an unusable address, user agent or credential. */
export function createRequester(options: RingCentralOptions): Requester {
  const client = clientOf(options)
  return {
    address: client.address,
    lag: client.lag,
    rates: client.rates,
    async perform(call) {
      const answered = checkStatus(client, call, await exchange(client, call))
      return answered.ok ? { ok: true, value: undefined } : answered
    },
    download: (url, accessToken, maxBytes) => downloadFrom(client, url, accessToken, maxBytes),
    async read(call, schema) {
      const answered = checkStatus(client, call, await exchange(client, call))
      if (!answered.ok) return answered
      const parsed = schema.safeParse(parseJson(answered.value.body))
      if (parsed.success) {
        // Any other answer may come from a proxy with its own clock and limits.
        client.lag.heard(answered.value.date)
        client.rates.heard(answered.value.rate ?? null)
        return { ok: true, value: parsed.data, requestId: answered.value.requestId }
      }
      return { ok: false, failure: unreadableFailure(answered.value, hideFor(client, call)) }
    },
  }
}

interface Client {
  address: string
  /** The path of the address. */
  basePath: string
  clientSecret: string
  /** The text after `Basic `: id and secret, without the form encoding of RFC 6749 2.3.1. */
  basic: string
  transport: Transport
  dial: Dial
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  ca?: string
  now: () => number
  lag: Lag
  rates: Rates
}

function clientOf({ serverUrl, clientId, clientSecret, ...options }: RingCentralOptions): Client {
  const url = serverAddress(serverUrl)
  const basePath = url.pathname.replace(/\/+$/, '')
  // Compression is neither offered nor unpacked, so an answer cannot grow beyond the counted bytes.
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity', 'User-Agent': options.userAgent }
  const { timeoutMs, throughProxy = false, ca, now = Date.now, steady = now } = options
  const transport = throughProxy ? fetchTransport : socketTransport
  const common = { headers: sound(headers), ...(ca === undefined ? {} : { ca }) }
  return {
    address: `${url.origin}${basePath}`,
    basePath,
    clientSecret,
    basic: Buffer.from(`${clientId}:${clientSecret}`).toString('base64'),
    transport: transport({ origin: url, ...common }),
    dial: throughProxy ? dialProxy : dialSocket,
    ...common,
    timeoutMs,
    now,
    lag: new Lag(now, steady),
    rates: new Rates(steady),
  }
}

function serverAddress(serverUrl: string): URL {
  const url = new URL(serverUrl)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`Cannot use the provider's address: its scheme is ${url.protocol}`)
  }
  return url
}

/** Throws if a value cannot be in a header. */
const sound = (headers: Record<string, string>): Record<string, string> => Object.fromEntries(new Headers(headers))

/** Returns a 2xx answer unchanged, any other answer as a failure. */
function checkStatus(
  client: Client,
  call: Call,
  answered: ProviderResult<ProviderAnswer>,
): ProviderResult<ProviderAnswer> {
  if (!answered.ok || isSuccess(answered.value)) return answered
  const endpoint = call.as === 'client' ? 'oauth' : 'api'
  return { ok: false, failure: statusFailure(answered.value, endpoint, hideFor(client, call)) }
}

function hideFor(client: Client, call: Call): Hide {
  const bearer = call.as === 'client' ? [] : [call.as.accessToken]
  return hider([client.clientSecret, client.basic, ...bearer, ...(call.credentials ?? [])], call.messageText)
}

function requestOf(client: Client, call: Call): HttpRequest {
  const authorization = call.as === 'client' ? `Basic ${client.basic}` : `Bearer ${call.as.accessToken}`
  const content = contentOf(call)
  return {
    method: call.method,
    target: targetOf(client, call),
    headers: {
      Authorization: authorization,
      ...(content === null ? {} : { 'Content-Type': content.type }),
    },
    body: content?.body ?? null,
    maxBytes: call.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    timeoutMs: client.timeoutMs + uploadMs(client.timeoutMs, call.uploadedBytes ?? 0),
  }
}

/** Needs no escaping: paths consist of constants and encoded ids. */
const targetOf = (client: Client, { path, query }: Call): string =>
  `${client.basePath}${path}${query ? `?${new URLSearchParams(query).toString()}` : ''}`

const isSuccess = (answer: { status: number }): boolean => answer.status >= 200 && answer.status < 300

/** Allows the characters of RFC 6750 and more. Other characters would make `fetch` throw before it sends. */
const isBearerToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)
const NO_BEARER_TOKEN = ownFailure('unauthorized', 'The stored access token is unusable; nothing was sent')

function contentOf(call: Call): { type: string; body: NonNullable<HttpRequest['body']> } | null {
  if (call.json !== undefined) return { type: 'application/json', body: JSON.stringify(call.json) }
  if (call.form) return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(call.form).toString() }
  return call.multipart === undefined ? null : { type: call.multipart.type, body: call.multipart.chunks }
}

/** Sends one request and reads its answer. */
function exchange(client: Client, call: Call): Promise<ProviderResult<ProviderAnswer>> {
  if (call.as !== 'client' && !isBearerToken(call.as.accessToken))
    return Promise.resolve({ ok: false, failure: NO_BEARER_TOKEN })
  return client.transport(requestOf(client, call)).then((answer) => noteAnswer(client, answer))
}

function noteAnswer(client: Client, answer: HttpAnswer): ProviderResult<ProviderAnswer> {
  if (!answer.ok) return { ok: false, failure: networkFailure(answer.code, answer.neverLeft) }
  return { ok: true, value: answerOf(answer, client.now()) }
}

/** Keeps the status of an answer whose body ends early. */
const answerOf = ({ status, header, body, bodyError }: SomeAnswer, now: number): ProviderAnswer => ({
  status,
  body,
  bodyError,
  date: header('date'),
  rate: rateOf(header),
  requestId: header('rcrequestid'),
  retryAfterMs: retryAfterMs(header('retry-after'), now, HOUR_MS),
})

async function downloadFrom(
  client: Client,
  url: URL,
  accessToken: string,
  maxBytes: number,
): Promise<ProviderResult<Downloading>> {
  if (!isBearerToken(accessToken)) return { ok: false, failure: NO_BEARER_TOKEN }
  const { timeoutMs, ca } = client
  const headers = { ...client.headers, accept: '*/*', authorization: `Bearer ${accessToken}` }
  try {
    const common = { url, headers, maxBytes, timeoutMs }
    const answer = await download(client.dial, ca === undefined ? common : { ...common, ca })
    if (isSuccess(answer)) return { ok: true, value: answer }
    const { status, header } = answer
    const said = { status, header, body: await textOf(answer, MAX_ANSWER_BYTES), bodyError: null }
    const hide = hider([client.clientSecret, client.basic, accessToken])
    return { ok: false, failure: statusFailure(answerOf({ ok: true, ...said }, client.now()), 'api', hide) }
  } catch (error) {
    return { ok: false, failure: networkFailure(errorCode(error), false) }
  }
}
