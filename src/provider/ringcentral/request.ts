import type { z } from 'zod'
import { HOUR_MS } from '../../core/limits.ts'
import type { ProviderResult } from '../provider.ts'
import { networkFailure, ownFailure, parseJson, statusFailure, unreadableFailure } from './errors.ts'
import type { Answer } from './errors.ts'
import { Lag } from './lag.ts'
import { retryAfterMs } from '../../http-client/retry-after.ts'
import { hider } from './secrets.ts'
import type { Hide } from './secrets.ts'
import { socketTransport } from './socket-transport.ts'
import { fetchTransport } from './fetch-transport.ts'
import type { HttpAnswer, HttpRequest, SomeAnswer, Transport } from './transport.ts'

/** The one place that calls the provider: every call is bounded in time and size, and its outcome is a value. */
export interface Requester {
  /** The provider's address without a trailing slash. */
  address: string
  /** For calls whose status says everything: the answer's content is dropped. */
  perform(call: Call): Promise<ProviderResult<void>>
  /** For calls whose answer is needed; a 2xx that `schema` cannot read is `ambiguous`. */
  read<T>(call: Call, schema: z.ZodType<T>): Promise<ReadResult<T>>
  /** How far the provider's clock was behind ours at its last answer. */
  lag: Lag
}

/** `requestId`: the provider's own, for its support. */
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
  /** Bytes of the answer; 256 KiB unless said. */
  maxAnswerBytes?: number
  /** Credentials in this call's body, and the text of an SMS: neither may show in a failure. */
  credentials?: string[]
  messageText?: string
}

export interface RequesterOptions {
  serverUrl: string
  clientId: string
  clientSecret: string
  timeoutMs: number
  userAgent: string
  throughProxy: boolean
  ca?: string
  now: () => number
  steady: () => number
}

/** Lists of 1000 records. */
export const MAX_LIST_BYTES = 8 * 1024 * 1024
const MAX_ANSWER_BYTES = 256 * 1024

/** Throws if the address, the agent or a credential cannot be used at all: a mistake of the configuration. */
export function createRequester(options: RequesterOptions): Requester {
  const client = clientOf(options)
  return {
    address: client.address,
    lag: client.lag,
    async perform(call) {
      const asked = judged(client, call, await exchange(client, call))
      return asked.ok ? { ok: true, value: undefined } : asked
    },
    async read(call, schema) {
      const asked = judged(client, call, await exchange(client, call))
      if (!asked.ok) return asked
      const parsed = schema.safeParse(parseJson(asked.value.body))
      if (parsed.success) return { ok: true, value: parsed.data, requestId: asked.value.requestId }
      return { ok: false, failure: unreadableFailure(asked.value, hideFor(client, call)) }
    },
  }
}

interface Client {
  address: string
  /** The address's path. */
  basePath: string
  clientSecret: string
  /** What follows `Basic `: the id and the secret as they are, without the form encoding of RFC 6749 2.3.1. */
  basic: string
  transport: Transport
  now: () => number
  lag: Lag
}

function clientOf({ serverUrl, clientId, clientSecret, ...options }: RequesterOptions): Client {
  const url = serverAddress(serverUrl)
  const basePath = url.pathname.replace(/\/+$/, '')
  // No encoding is asked for and none is unpacked: an answer can't be bigger than what was counted.
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity', 'User-Agent': options.userAgent }
  const { timeoutMs, throughProxy, ca, now, steady } = options
  const transport = throughProxy ? fetchTransport : socketTransport
  return {
    address: `${url.origin}${basePath}`,
    basePath,
    clientSecret,
    basic: Buffer.from(`${clientId}:${clientSecret}`).toString('base64'),
    transport: transport({ origin: url, headers: sound(headers), timeoutMs, ...(ca === undefined ? {} : { ca }) }),
    now,
    lag: new Lag(now, steady),
  }
}

function serverAddress(serverUrl: string): URL {
  const url = new URL(serverUrl)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`Cannot use the provider's address: its scheme is ${url.protocol}`)
  }
  return url
}

/** Throws where a value could not stand in a header. */
const sound = (headers: Record<string, string>): Record<string, string> => Object.fromEntries(new Headers(headers))

/** A 2xx answer, or the failure. */
function judged(client: Client, call: Call, asked: ProviderResult<Answer>): ProviderResult<Answer> {
  if (!asked.ok || isSuccess(asked.value)) return asked
  const endpoint = call.as === 'client' ? 'oauth' : 'api'
  return { ok: false, failure: statusFailure(asked.value, endpoint, hideFor(client, call)) }
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
  }
}

/** Paths are made of our own words and of encoded ids. */
const targetOf = (client: Client, { path, query }: Call): string =>
  `${client.basePath}${path}${query ? `?${new URLSearchParams(query).toString()}` : ''}`

const isSuccess = (answer: Answer): boolean => answer.status >= 200 && answer.status < 300

/** RFC 6750's characters and more; anything beyond would make `fetch` throw before it sends. */
const isBearerToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)
const NO_BEARER_TOKEN = ownFailure('unauthorized', 'The stored access token is unusable; nothing was sent')

function contentOf(call: Call): { type: string; body: string } | null {
  if (call.json !== undefined) return { type: 'application/json', body: JSON.stringify(call.json) }
  if (call.form) return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(call.form).toString() }
  return null
}

/** One round trip. */
function exchange(client: Client, call: Call): Promise<ProviderResult<Answer>> {
  if (call.as !== 'client' && !isBearerToken(call.as.accessToken))
    return Promise.resolve({ ok: false, failure: NO_BEARER_TOKEN })
  return client.transport(requestOf(client, call)).then((answer) => heard(client, answer))
}

function heard(client: Client, answer: HttpAnswer): ProviderResult<Answer> {
  if (!answer.ok) return { ok: false, failure: networkFailure(answer.code, answer.neverLeft) }
  client.lag.heard(answer.header('date'))
  return { ok: true, value: answerOf(answer, client.now()) }
}

/** A body that breaks off leaves the status standing: a 403 is a refusal with or without its explanation. */
const answerOf = ({ status, header, body, bodyError }: SomeAnswer, now: number): Answer => ({
  status,
  body,
  bodyError,
  requestId: header('rcrequestid'),
  retryAfterMs: retryAfterMs(header('retry-after'), now, HOUR_MS),
})
