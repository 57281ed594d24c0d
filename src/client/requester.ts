import { backoffMs, pause } from './pause.ts'
import { SgwError } from './sgw-error.ts'

export interface SgwOptions extends CommonOptions {
  /** An app's key, `sgw_…`, or an operator's token. */
  apiKey: string
  /** With an operator's token: the app as which the client calls, `app_…`. */
  appId?: string | undefined
}

/** Only for `events()`, in places that must not have a key, such as a page. */
export interface TokenOptions extends CommonOptions {
  /** A token from `wsToken()`: the loop then ends with its connection. Or a function that gets a token for each connection. */
  token: string | (() => string | Promise<string>)
}

interface CommonOptions {
  /** The gateway's address, such as `https://sms.example.com`, with the path of a proxy if it has one. */
  baseUrl: string
  /** Instead of the global one. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** The class for `events()`, if there is no global one: `import { WebSocket } from 'ws'`. */
  WebSocket?: WebSocketClass | undefined
  /** For each attempt of a request. The default is 30,000. */
  timeoutMs?: number | undefined
  /** How often a request is retried. The default is 2. */
  maxRetries?: number | undefined
}

/** The part of the standard `WebSocket` that the client uses. */
export type WebSocketClass = new (url: string) => SocketLike

export interface SocketLike {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: { type: string }) => void): void
}

export interface RequestOptions {
  /** Absent and undefined values are left out. */
  query?: object | undefined
  /** Sent as JSON. */
  body?: unknown
  /** Sent unchanged, with its type, instead of a body. It may take ten times as long. */
  file?: Blob | undefined
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
  /** Whether a request whose answer was lost may be repeated. By default GET and PUT requests may. */
  repeatable?: boolean | undefined
  /** Instead of the client's. */
  maxRetries?: number | undefined
  /** Resolves with the raw body of a success, instead of its JSON. */
  blob?: boolean | undefined
}

const FILE_TIMES = 10
const MAX_WAIT_SECONDS = 60
const HEADER_VALUE = /^\s*[\x21-\x7e]*\s*$/
/** The origin of an address, if it has no credentials. */
const ORIGIN = /^https?:\/\/[\w.-]+(:\d+)?(?![^/?#])/i

/** Makes requests, and retries them where that is safe. */
export class Requester {
  readonly baseUrl: string
  readonly timeoutMs: number

  constructor(readonly options: Partial<SgwOptions & TokenOptions> & CommonOptions) {
    // Some `fetch` implementations repeat such a key in the error, from which it would get into logs.
    if (!HEADER_VALUE.test(options.apiKey ?? '')) throw new SgwError('The apiKey has characters that no key has')
    this.baseUrl = options.baseUrl.replace(/\/+$/, '')
    this.timeoutMs = options.timeoutMs ?? 30_000
  }

  /** Resolves with the JSON of a 2xx answer. Throws an `SgwError` otherwise. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const { repeatable = method === 'GET' || method === 'PUT', signal } = options
    const maxRetries = options.maxRetries ?? this.options.maxRetries ?? 2
    for (let failures = 0; ; failures++) {
      try {
        return (await this.#attempt(method, path, options)) as T
      } catch (error) {
        const waitMs = failures < maxRetries && error instanceof SgwError ? retryMs(error, failures, repeatable) : null
        if (waitMs === null || signal?.aborted) throw error
        await pause(waitMs, signal)
      }
    }
  }

  async #attempt(
    method: string,
    path: string,
    { query, body, file, headers, signal, blob }: RequestOptions,
  ): Promise<unknown> {
    const { apiKey, appId, fetch: given } = this.options
    const late = new AbortController()
    const timeoutMs = this.timeoutMs * (file ? FILE_TIMES : 1)
    const timer = setTimeout(() => late.abort(), timeoutMs)
    const url = this.baseUrl + path + queryText(query)
    try {
      const init: RequestInit = {
        method,
        // Following it would give a message to another host, or turn a send into a GET.
        redirect: 'manual',
        signal: AbortSignal.any(signal ? [signal, late.signal] : [late.signal]),
        headers: {
          ...(apiKey && { authorization: `Bearer ${apiKey}` }),
          ...(appId && { 'sgw-app': appId }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        // The type of a file becomes the `Content-Type`.
        body: file ?? (body === undefined ? null : JSON.stringify(body)),
      }
      // Browsers refuse a `fetch` that is called as a method of another object.
      const response = await (given ?? fetch)(url, init)
      if (blob === true && response.ok) return await response.blob()
      return answerOf(response, await response.text(), this.baseUrl)
    } catch (cause) {
      if (cause instanceof SgwError) throw cause
      const isLate = late.signal.aborted && !signal?.aborted
      const reason = isLate ? `no answer within ${timeoutMs} ms` : reasonOf(cause)
      throw new SgwError(`${method} ${this.baseUrl}${path}: ${reason}`, 0, null, null, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A part of a path, from an arbitrary value. */
export const segment = encodeURIComponent

function queryText(query: object = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query) as [string, unknown][])
    if (value !== undefined) params.set(name, value instanceof Date ? value.toISOString() : String(value))
  return params.size === 0 ? '' : `?${params}`
}

function answerOf(response: Response, text: string, baseUrl: string): unknown {
  const { ok, status, headers } = response
  const json = parse(text)
  if (ok && json !== undefined) return json
  const message = problemOf(response, (json as { error?: unknown } | null | undefined)?.error, baseUrl)
  // Browsers hide the status of a redirect: it is 0.
  throw new SgwError(message, status || 302, headers.get('x-request-id'), secondsOf(headers.get('retry-after')))
}

function problemOf({ ok, status, headers }: Response, error: unknown, baseUrl: string): string {
  if (!ok && status < 400) {
    const [origin] = ORIGIN.exec(headers.get('location') ?? '') ?? []
    return `${baseUrl} redirects${origin ? ` to ${origin}` : ''}: set baseUrl to the gateway itself`
  }
  if (error === 'Not found' && baseUrl.endsWith('/v1')) return 'Not found: baseUrl must not end in /v1'
  if (typeof error === 'string') return error
  return ok ? 'The answer is not JSON: check baseUrl' : `HTTP ${status}`
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `Retry-After` is a number of seconds or a date. */
function secondsOf(value: string | null): number | null {
  if (!value) return null
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** How long to wait before the next attempt; null if there must be none. */
function retryMs(error: SgwError, failures: number, repeatable: boolean): number | null {
  const { status, retryAfterSeconds } = error
  if ((status === 429 || status === 503) && retryAfterSeconds !== null)
    return retryAfterSeconds > MAX_WAIT_SECONDS ? null : retryAfterSeconds * 1000 + backoffMs(0) / 2
  return repeatable && (status === 0 || status === 408 || status >= 500) ? backoffMs(failures) : null
}

/** Node.js says only "fetch failed"; the cause of its error says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? `${error.message} (${code})` : error.message
}
