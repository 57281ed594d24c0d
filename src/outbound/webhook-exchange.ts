import {
  HttpConnection,
  type HttpEndpoint,
  type HttpExchangeListener,
  type HttpFailure,
} from '../http-client/http-connection.ts'
import { headerLines, requestText } from '../http-client/request-text.ts'
import type { HttpResponseHead } from '../http-client/http-response-reader.ts'
import type { Dialable } from './address-guard.ts'
import { type WebhookFailure, failureOf } from './failure.ts'
import { Snippet } from './snippet.ts'
import { bareHost, portOf } from './webhook-url.ts'

export interface WebhookExchangeInput {
  url: URL
  /** The checked address. It is dialled even if the URL's name has another address by now. */
  dialable: Dialable
  body: string
  headers: Readonly<Record<string, string>>
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

export type WebhookExchangeResult =
  | ({ ok: true } & WebhookResponse)
  | ({ ok: false; neverLeft: boolean } & WebhookFailure)

/** Status line and headers were received; the body may be incomplete. */
export interface WebhookResponse {
  statusCode: number
  retryAfter: string | null
  snippet: Snippet
  /** Closes the connection; must be called. */
  close(): void
}

const MAX_HEAD_BYTES = 16_384

/**
 * Makes one POST on a connection of its own. Resolves with the status line and headers of the response, or with the failure, which
 * is `TimeoutError` after an abort of `signal`. Never rejects.
 *
 * It does not use `fetch`, which always obeys HTTP_PROXY and HTTPS_PROXY: a proxy would resolve the name again. It follows no
 * redirect, decompresses nothing and bounds the headers (HPE_HEADER_OVERFLOW).
 */
export function postOnce(input: WebhookExchangeInput, signal: AbortSignal): Promise<WebhookExchangeResult> {
  return new Promise((resolve) =>
    new WebhookExchange(new HttpConnection(endpointOf(input), MAX_HEAD_BYTES), resolve).begin(input, signal),
  )
}

function endpointOf({ url, dialable, ca }: WebhookExchangeInput): HttpEndpoint {
  const tls = { serverName: bareHost(url.hostname), alwaysVerify: true, ...(ca === undefined ? {} : { ca }) }
  return { hostname: dialable.address, port: portOf(url), tls: url.protocol === 'https:' ? tls : null }
}

function textOf({ url, body, headers }: WebhookExchangeInput): string {
  const lines = headerLines({ host: url.host, connection: 'close', ...headers })
  return requestText('POST', `${url.pathname}${url.search}`, lines, body)
}

class WebhookExchange implements HttpExchangeListener {
  readonly #snippet = new Snippet()

  constructor(
    private readonly connection: HttpConnection,
    private readonly resolve: (result: WebhookExchangeResult) => void,
  ) {}

  begin(input: WebhookExchangeInput, signal: AbortSignal): void {
    const expire = (): void => {
      this.connection.destroy()
      this.fail({ code: 'TimeoutError', neverLeft: this.connection.neverLeft })
    }
    if (signal.aborted) return expire()
    signal.addEventListener('abort', expire, { once: true })
    this.connection.send(textOf(input), this)
  }

  head(head: HttpResponseHead): void {
    const close = (): void => this.connection.destroy()
    const retryAfter = head.header('retry-after')
    this.resolve({ ok: true, statusCode: head.status, retryAfter, snippet: this.#snippet, close })
  }

  body(bytes: Uint8Array): void {
    this.#snippet.add(bytes)
  }

  end(): void {
    this.#snippet.end()
  }

  fail({ code, neverLeft }: Pick<HttpFailure, 'code' | 'neverLeft'>): void {
    this.#snippet.end()
    // Has no effect after the status line, which has already resolved the promise.
    this.resolve({ ok: false, neverLeft, ...failureOf({ code }) })
  }
}
