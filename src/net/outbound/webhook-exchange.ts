import {
  HttpConnection,
  type HttpEndpoint,
  type HttpExchangeListener,
  type HttpFailure,
} from '../http/http-connection.ts'
import { headerLines, requestText } from '../http/request-text.ts'
import { type HttpResponseHead, HttpResponseReader } from '../http/http-response-reader.ts'
import type { Dialable } from './address-guard.ts'
import { type WebhookFailure, failureOf } from './failure.ts'
import { Snippet } from './snippet.ts'
import { StatusLineFinder } from './status-line.ts'
import { bareHost, portOf } from './webhook-url.ts'

export interface WebhookExchangeInput {
  url: URL
  /** The checked address. It is dialed even if the URL's name has a different address by now. */
  dialable: Dialable
  body: string
  headers: Readonly<Record<string, string>>
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

export type WebhookExchangeResult =
  | ({ ok: true } & WebhookResponse)
  | ({ ok: false; neverLeft: boolean } & WebhookFailure)

/** The status line was received. Headers and body may follow. */
export interface WebhookResponse {
  statusCode: number
  /** Known when the snippet is. */
  retryAfter(): string | null
  snippet: Snippet
  /** Closes the connection; must be called. */
  close(): void
}

const MAX_HEAD_BYTES = 16_384

/**
 * Makes one POST on a connection of its own. Resolves with the final status line of the response, or with the failure, which is
 * `TimeoutError` after an abort of `signal`. Never rejects.
 *
 * It does not use `fetch`, which always obeys HTTP_PROXY and HTTPS_PROXY: a proxy would resolve the name again. It follows no
 * redirect, decompresses nothing and bounds what it reads.
 */
export function postOnce(input: WebhookExchangeInput, signal: AbortSignal): Promise<WebhookExchangeResult> {
  return new Promise((resolve) => new WebhookExchange(endpointOf(input), resolve).begin(input, signal))
}

function endpointOf({ url, dialable, ca }: WebhookExchangeInput): HttpEndpoint {
  const tls = { serverName: bareHost(url.hostname), alwaysVerify: true, ...(ca === undefined ? {} : { ca }) }
  return { hostname: dialable.address, port: portOf(url), tls: url.protocol === 'https:' ? tls : null }
}

function textOf({ url, body, headers }: WebhookExchangeInput): string {
  const lines = headerLines({ host: url.host, connection: 'close', ...headers })
  return requestText('POST', `${url.pathname}${url.search}`, lines, body)
}

/** Takes the status line before the strict parser sees it. If the parser refuses anything after it, only the snippet ends. */
class WebhookResponseReader extends HttpResponseReader {
  readonly #statusLine = new StatusLineFinder(MAX_HEAD_BYTES)
  #isFound = false

  constructor(private readonly onStatus: (status: number) => void) {
    super(MAX_HEAD_BYTES)
  }

  override read(bytes: Buffer): string | null {
    if (this.#isFound) return super.read(bytes)
    const found = this.#statusLine.read(bytes)
    if (found === null || typeof found === 'string') return found
    this.#isFound = true
    this.onStatus(found.status)
    return super.read(found.bytes)
  }
}

class WebhookExchange implements HttpExchangeListener {
  readonly #connection: HttpConnection
  readonly #snippet = new Snippet()
  #head: HttpResponseHead | null = null

  constructor(
    endpoint: HttpEndpoint,
    private readonly resolve: (result: WebhookExchangeResult) => void,
  ) {
    this.#connection = new HttpConnection(endpoint, new WebhookResponseReader((status) => this.#answered(status)))
  }

  begin(input: WebhookExchangeInput, signal: AbortSignal): void {
    const expire = (): void => {
      this.#connection.destroy()
      this.fail({ code: 'TimeoutError', neverLeft: this.#connection.neverLeft })
    }
    if (signal.aborted) return expire()
    signal.addEventListener('abort', expire, { once: true })
    this.#connection.send(textOf(input), this)
  }

  #answered(statusCode: number): void {
    const retryAfter = (): string | null => this.#head?.header('retry-after') ?? null
    const close = (): void => this.#connection.destroy()
    this.resolve({ ok: true, statusCode, retryAfter, snippet: this.#snippet, close })
  }

  head(head: HttpResponseHead): void {
    this.#head = head
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
