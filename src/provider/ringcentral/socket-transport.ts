import type { HttpConnection, HttpEndpoint, HttpExchangeListener, HttpFailure } from '../../net/http/http-connection.ts'
import { HttpConnectionPool } from '../../net/http/http-connection-pool.ts'
import type { HttpResponseHead } from '../../net/http/http-response-reader.ts'
import { type WritableRequest, headerLines, requestText, uploadOf } from '../../net/http/request-text.ts'
import { BodyText } from './body-text.ts'
import {
  type HttpAnswer,
  type HttpRequest,
  TIMEOUT,
  TOO_LARGE,
  type Transport,
  type TransportOptions,
} from './transport.ts'

export const MAX_HEAD_BYTES = 64 * 1024
const SWITCHING_PROTOCOLS = 101

/** Calls the provider without a proxy, on persistent connections. */
export function socketTransport({ origin, headers, ca }: TransportOptions): Transport {
  const pool = new HttpConnectionPool(endpointOf(origin, ca), MAX_HEAD_BYTES)
  const commonLines = headerLines({ Host: origin.host, ...headers })
  return (request) =>
    new Promise((resolve) => {
      const lines = commonLines + headerLines(request.headers)
      new ProviderExchange(pool, request, writable(request, lines), resolve).begin()
    })
}

const writable = ({ method, target, body }: HttpRequest, lines: string): WritableRequest =>
  typeof body === 'string' || body === null ? requestText(method, target, lines, body) : uploadOf(target, lines, body)

export function endpointOf({ protocol, hostname, port }: URL, ca: string | undefined): HttpEndpoint {
  const isSecure = protocol === 'https:'
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    tls: isSecure ? (ca === undefined ? {} : { ca }) : null,
  }
}

/** One request and its response, within the time limit. */
class ProviderExchange implements HttpExchangeListener {
  readonly #deadline: Timer
  #connection: HttpConnection | null = null
  #head: HttpResponseHead | null = null
  readonly #body = new BodyText()

  constructor(
    private readonly pool: HttpConnectionPool,
    private readonly request: HttpRequest,
    private readonly written: WritableRequest,
    private readonly resolve: (answer: HttpAnswer) => void,
  ) {
    this.#deadline = setTimeout(() => this.#giveUp(TIMEOUT), request.timeoutMs)
  }

  begin(onNewConnection = false): void {
    this.#connection = this.pool.send(this.written, this, onNewConnection)
  }

  head(head: HttpResponseHead): void {
    if (head.status === SWITCHING_PROTOCOLS) this.#giveUp('UnrequestedUpgrade')
    else this.#head = head
  }

  body(bytes: Uint8Array): void {
    if (this.#body.length + bytes.length > this.request.maxBytes) this.#giveUp(TOO_LARGE)
    else this.#body.add(bytes)
  }

  end(): void {
    this.#finish(this.#body.text(), null, false)
  }

  /** If the server had closed the persistent connection, sends the request again, unless it was written and is not a GET. */
  fail({ code, neverLeft, isStale }: HttpFailure): void {
    if (isStale && (neverLeft || this.request.method === 'GET')) this.begin(true)
    else this.#finish(null, code, neverLeft)
  }

  #giveUp(code: string): void {
    const neverLeft = this.#connection?.neverLeft ?? true
    this.#connection?.destroy()
    this.#finish(null, code, neverLeft)
  }

  #finish(body: string | null, code: string | null, neverLeft: boolean): void {
    clearTimeout(this.#deadline)
    const head = this.#head
    if (head === null) return this.resolve({ ok: false, code: code ?? 'ECONNRESET', neverLeft })
    this.resolve({ ok: true, status: head.status, header: (name) => head.header(name), body, bodyError: code })
  }
}
