import type { Connection, ConnectionFailure, Endpoint, ExchangeListener } from '../../http-client/connection.ts'
import { ConnectionPool } from '../../http-client/pool.ts'
import { headerLines, requestText } from '../../http-client/request-text.ts'
import type { ResponseHead } from '../../http-client/response-reader.ts'
import { BodyText } from './body-text.ts'
import {
  type HttpAnswer,
  type HttpRequest,
  TIMEOUT,
  TOO_LARGE,
  type Transport,
  type TransportOptions,
} from './transport.ts'

const MAX_HEAD_BYTES = 64 * 1024
const SWITCHING_PROTOCOLS = 101

/** Straight to the server, on connections that are kept. */
export function socketTransport({ origin, headers, ca, timeoutMs }: TransportOptions): Transport {
  const pool = new ConnectionPool(endpointOf(origin, ca), MAX_HEAD_BYTES)
  const always = headerLines({ Host: origin.host, ...headers })
  return (request) =>
    new Promise((answered) => {
      const text = requestText(request.method, request.target, always + headerLines(request.headers), request.body)
      new Exchange(pool, request, text, timeoutMs, answered).begin(false)
    })
}

function endpointOf({ protocol, hostname, port }: URL, ca: string | undefined): Endpoint {
  const isSecure = protocol === 'https:'
  const bare = hostname.replace(/^\[|\]$/g, '')
  return {
    hostname: bare,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    tls: isSecure ? (ca === undefined ? {} : { ca }) : null,
  }
}

/** One request and its answer, within its time. */
class Exchange implements ExchangeListener {
  readonly #deadline: Timer
  #connection: Connection | null = null
  #head: ResponseHead | null = null
  readonly #body = new BodyText()

  constructor(
    private readonly pool: ConnectionPool,
    private readonly request: HttpRequest,
    private readonly text: string,
    timeoutMs: number,
    private readonly answered: (answer: HttpAnswer) => void,
  ) {
    this.#deadline = setTimeout(() => this.#giveUp(TIMEOUT), timeoutMs)
  }

  begin(fresh: boolean): void {
    this.#connection = this.pool.send(this.text, this, fresh)
  }

  head(head: ResponseHead): void {
    if (head.status === SWITCHING_PROTOCOLS) this.#giveUp('UnrequestedUpgrade')
    else this.#head = head
  }

  body(bytes: Uint8Array): void {
    if (this.#body.length + bytes.length > this.request.maxBytes) this.#giveUp(TOO_LARGE)
    else this.#body.add(bytes)
  }

  end(): void {
    this.#settle(this.#body.text(), null, false)
  }

  /** A kept connection that the server had closed: what was not written, or may be done twice, is asked again. */
  fail({ code, neverLeft, isStale }: ConnectionFailure): void {
    if (isStale && (neverLeft || this.request.method === 'GET')) this.begin(true)
    else this.#settle(null, code, neverLeft)
  }

  #giveUp(code: string): void {
    const neverLeft = this.#connection?.neverLeft ?? true
    this.#connection?.destroy()
    this.#settle(null, code, neverLeft)
  }

  #settle(body: string | null, code: string | null, neverLeft: boolean): void {
    clearTimeout(this.#deadline)
    const head = this.#head
    if (head === null) return this.answered({ ok: false, code: code ?? 'ECONNRESET', neverLeft })
    this.answered({ ok: true, status: head.status, header: (name) => head.header(name), body, bodyError: code })
  }
}
