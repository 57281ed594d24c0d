import type { z } from 'zod'
import type { ProviderResult } from '../provider.ts'
import { networkFailure, errorCode, ownFailure, parseJson, statusFailure, unreadableFailure } from './errors.ts'
import type { Answer } from './errors.ts'
import { Lag } from './lag.ts'
import { retryAfterMs } from './retry-after.ts'
import { hider } from './secrets.ts'
import type { Hide } from './secrets.ts'

/** The one place that calls the provider: every call is bounded in time and size, and its outcome is a value. */
export interface Requester {
  /** The provider's address without a trailing slash. */
  address: string
  /** For calls whose status says everything: the answer's content is dropped. */
  perform(call: Call): Promise<ProviderResult<void>>
  /** For calls whose answer is needed; a 2xx that `schema` cannot read is `ambiguous`. */
  read<T>(call: Call, schema: z.ZodType<T>): Promise<ProviderResult<T>>
  /** How far the provider's clock was behind ours at its last answer. */
  lag: Lag
}

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
  now: () => number
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
      if (parsed.success) return { ok: true, value: parsed.data }
      return { ok: false, failure: unreadableFailure(asked.value, hideFor(client, call)) }
    },
  }
}

interface Client extends Omit<RequesterOptions, 'serverUrl' | 'clientId' | 'userAgent'> {
  address: string
  /** What follows `Basic `: the id and the secret as they are, without the form encoding of RFC 6749 2.3.1. */
  basic: string
  headers: Headers
  lag: Lag
}

function clientOf(options: RequesterOptions): Client {
  return {
    address: serverAddress(options.serverUrl),
    clientSecret: options.clientSecret,
    basic: Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64'),
    // No encoding is asked for and none is unpacked: an answer can't be bigger than what was counted.
    headers: new Headers({
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': options.userAgent,
    }),
    timeoutMs: options.timeoutMs,
    now: options.now,
    lag: new Lag(options.now),
  }
}

function serverAddress(serverUrl: string): string {
  const url = new URL(serverUrl)
  // fetch would also open file:, data: and s3:.
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`Cannot use the provider's address: its scheme is ${url.protocol}`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

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

interface HttpRequest {
  url: string
  init: BunFetchRequestInit
}

function requestOf(client: Client, call: Call): HttpRequest {
  const headers = new Headers(client.headers)
  headers.set('authorization', call.as === 'client' ? `Basic ${client.basic}` : `Bearer ${call.as.accessToken}`)
  const content = contentOf(call)
  if (content) headers.set('content-type', content.type)
  const query = call.query ? `?${new URLSearchParams(call.query).toString()}` : ''
  const init: BunFetchRequestInit = {
    method: call.method,
    headers,
    body: content?.body ?? null,
    redirect: 'manual',
    decompress: false,
    signal: AbortSignal.timeout(client.timeoutMs),
  }
  return { url: `${client.address}${call.path}${query}`, init }
}

const isSuccess = (answer: Answer): boolean => answer.status >= 200 && answer.status < 300

/** RFC 6750's characters and more; anything beyond would make `fetch` throw before it sends. */
const isBearerToken = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)
const NO_BEARER_TOKEN = ownFailure('unauthorized', 'The stored access token is unusable; nothing was sent')

function contentOf(call: Call): { type: string; body: string } | null {
  if (call.json !== undefined) return { type: 'application/json', body: JSON.stringify(call.json) }
  if (call.form) return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(call.form).toString() }
  return null
}

/**
 * One round trip. Bun never sends a POST again by itself, even when a pooled connection turns out to be dead (it does
 * so for GET), which is what makes pooling safe for sending SMS.
 */
async function exchange(client: Client, call: Call): Promise<ProviderResult<Answer>> {
  if (call.as !== 'client' && !isBearerToken(call.as.accessToken)) return { ok: false, failure: NO_BEARER_TOKEN }
  const { url, init } = requestOf(client, call)
  let head: AnswerHead | null = null
  try {
    const response = await fetch(url, init)
    client.lag.heard(response.headers.get('date'))
    head = headOf(response, client.now())
    const body = await boundedText(response, call.maxAnswerBytes ?? MAX_ANSWER_BYTES)
    return { ok: true, value: { ...head, body, bodyError: body === null ? 'ERR_ANSWER_TOO_LARGE' : null } }
  } catch (error) {
    if (head === null) return { ok: false, failure: networkFailure(error) }
    // A body that breaks off leaves the status standing: a 403 is a refusal with or without its explanation.
    return { ok: true, value: { ...head, body: null, bodyError: errorCode(error) } }
  }
}

type AnswerHead = Omit<Answer, 'body' | 'bodyError'>

const headOf = ({ status, headers }: Response, now: number): AnswerHead => ({
  status,
  requestId: headers.get('rcrequestid'),
  retryAfterMs: retryAfterMs(headers.get('retry-after'), now),
})

/** Null if the body is longer than `maxBytes`; the rest is not read then. */
const boundedText = (response: Response, maxBytes: number): Promise<string | null> =>
  isBounded(response, maxBytes) ? response.text() : countedText(response, maxBytes)

/** A declared length is the end of the body (RFC 9112, 6.2), unless it comes in chunks, which overrule it. */
function isBounded({ headers }: Response, maxBytes: number): boolean {
  const declared = headers.get('content-length')
  return declared !== null && Number(declared) <= maxBytes && !headers.has('transfer-encoding')
}

async function countedText(response: Response, maxBytes: number): Promise<string | null> {
  const chunks: ReadableStream<Uint8Array> | null = response.body
  if (chunks === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
