import type { Clock } from '../../core/clock.ts'
import type { Lease } from '../../core/lease.ts'
import { DAY_MS, WEBHOOK_TIMEOUT_MS } from '../../core/limits.ts'
import type { Meter } from '../../core/meter.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import type { AddressGuard, Dialable } from './address-guard.ts'
import { type WebhookFailure, failureOf, neverConnected } from './failure.ts'
import { type WebhookExchangeResult, type WebhookResponse, postOnce } from './webhook-exchange.ts'
import { portOf } from './webhook-url.ts'

export interface PostRequest {
  url: string
  /** The tenant that chose the address. Lookups are bounded per tenant. */
  tenantId: string
  /** JSON text, sent byte for byte. */
  body: string
  /** Further headers. Content type, length, host and user agent cannot be replaced. */
  headers: Record<string, string>
}

export interface PostResult {
  outcome: 'success' | 'http_error' | 'timeout' | 'network_error'
  /** Null without a response. */
  statusCode: number | null
  /** An error name on `timeout` (`TimeoutError`) and `network_error` (`ECONNREFUSED`, `BlockedAddress` …), else null. */
  errorClass: string | null
  /** A sentence of at most 500 characters, without the address; null on `success`. */
  errorMessage: string | null
  /** The first 256 bytes of the response's body as text; null without a response. */
  snippet: string | null
  /** From `Retry-After` of a 429 or 503, milliseconds, at most a day. Null without one. */
  retryAfterMs: number | null
  /** Milliseconds, rounded, from the start to the status line or to the failure. */
  durationMs: number
}

export interface WebhookPosterOptions {
  guard: AddressGuard
  clock: Clock
  /** For the complete POST: name, connection, TLS, request and response. */
  timeoutMs?: number
  /** Certificate authorities instead of the built-in ones, for tests. */
  ca?: string
  meter?: Meter
  /** Null if there is no other gateway. */
  lease?: Pick<Lease, 'granted'> | null
}

/** How long to wait for the snippet of a successful response. The snippet of a failure may take the rest of the time. */
const SUCCESS_BODY_MS = 500
const MAX_ADDRESSES_TRIED = 4
/** Some firewalls refuse a request without `Accept`. */
const FIXED_HEADERS = { accept: '*/*', 'content-type': 'application/json', 'user-agent': 'sgw/1.0' }
const OWN_HEADERS = new Set(['host', 'connection', 'content-length', ...Object.keys(FIXED_HEADERS)])

/** POSTs JSON to addresses that tenants have chosen. */
export class WebhookPoster {
  readonly #options: WebhookPosterOptions
  readonly #open = new Set<AbortController>()

  constructor(options: WebhookPosterOptions) {
    this.#options = options
  }

  /** Makes at most one POST and follows no redirect. A failure of the destination is a result; only a bug of the gateway rejects. */
  async post(request: PostRequest): Promise<PostResult> {
    const granted = this.#options.lease?.granted()
    if (granted !== undefined) await granted
    const result = await this.#post(request)
    this.#options.meter?.webhookPost(result.outcome, result.durationMs)
    return result
  }

  async #post(request: PostRequest): Promise<PostResult> {
    const { clock, timeoutMs = WEBHOOK_TIMEOUT_MS } = this.#options
    const deadline = new AbortController()
    this.#open.add(deadline)
    const cancel = clock.after(timeoutMs, () => deadline.abort())
    const startedAt = clock.monotonic()
    try {
      const answer = await this.#reach(request, deadline.signal)
      const durationMs = Math.max(0, Math.round(clock.monotonic() - startedAt))
      if (!answer.ok) return { ...unanswered(answer), durationMs }
      const snippet = await this.#snippetOf(answer, deadline.signal)
      const delay = { retryAfterMs: retryAfterOf(answer, clock.now()) }
      return { ...answered(answer.statusCode), ...delay, snippet, durationMs }
    } finally {
      cancel()
      this.#open.delete(deadline)
    }
  }

  /** Ends every open POST immediately, as if its time were over. */
  endAll(): void {
    for (const deadline of this.#open) deadline.abort()
  }

  async #reach(request: PostRequest, signal: AbortSignal): Promise<WebhookExchangeResult> {
    const { guard } = this.#options
    // Checked again, because the operator may have changed the mode or the ranges since the registration.
    const refusal = guard.refusal(request.url)
    if (refusal !== null) return { ok: false, neverLeft: true, ...refusal }
    const url = new URL(request.url)
    const { hostname } = url
    const found = await guard.resolve({ hostname, port: portOf(url), tenantId: request.tenantId }, signal)
    return found.ok ? this.#dial(url, request, [found, ...found.others], signal) : { ...found, neverLeft: true }
  }

  /** Tries the next address only if there was no connection; otherwise the destination may have the message. */
  async #dial(
    url: URL,
    { body, headers }: PostRequest,
    addresses: readonly Dialable[],
    signal: AbortSignal,
  ): Promise<WebhookExchangeResult> {
    const { ca } = this.#options
    const common = { url, body, headers: withoutFixed(headers), ...(ca === undefined ? {} : { ca }) }
    let answer: WebhookExchangeResult | null = null
    for (const dialable of addresses.slice(0, MAX_ADDRESSES_TRIED)) {
      answer = await postOnce({ ...common, dialable }, signal)
      if (answer.ok || !answer.neverLeft || !neverConnected(answer)) return answer
    }
    return answer ?? { ok: false, neverLeft: true, ...failureOf({ code: 'ENOTFOUND' }) }
  }

  async #snippetOf(answer: WebhookResponse, signal: AbortSignal): Promise<string> {
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
    const cancel = isSuccess(answer.statusCode) ? this.#options.clock.after(SUCCESS_BODY_MS, resolve) : null
    await Promise.race([answer.snippet.done, enough])
    cancel?.()
    answer.close()
    return answer.snippet.text()
  }
}

/** Header names are compared without regard to case. */
function withoutFixed(headers: Record<string, string>): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...FIXED_HEADERS }
}

const retryAfterOf = ({ statusCode, retryAfter }: WebhookResponse, now: number): number | null =>
  statusCode === 429 || statusCode === 503 ? retryAfterMs(retryAfter(), now, DAY_MS) : null

const isSuccess = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300

/** Only the status line decides. Headers and a body that hang or fail after it change nothing. */
function answered(statusCode: number): Omit<PostResult, 'durationMs' | 'snippet' | 'retryAfterMs'> {
  if (isSuccess(statusCode)) return { outcome: 'success', statusCode, errorClass: null, errorMessage: null }
  const redirected = statusCode >= 300 && statusCode < 400 ? '; redirects are not followed' : ''
  return {
    outcome: 'http_error',
    statusCode,
    errorClass: null,
    errorMessage: `The destination answered ${statusCode}${redirected}`,
  }
}

function unanswered({ errorClass, errorMessage }: WebhookFailure): Omit<PostResult, 'durationMs'> {
  const outcome = errorClass === 'TimeoutError' ? 'timeout' : 'network_error'
  return { outcome, statusCode: null, errorClass, errorMessage, snippet: null, retryAfterMs: null }
}
