import { type ConnectionFailure, Connection, type Endpoint, type ExchangeListener } from '../http-client/connection.ts'
import { headerLines, requestText } from '../http-client/request-text.ts'
import type { ResponseHead } from '../http-client/response-reader.ts'
import type { Dialable } from './address-guard.ts'
import { type Failure, failureOf } from './failure.ts'
import { Snippet } from './snippet.ts'
import { bareHost, portOf } from './webhook-url.ts'

export interface ExchangeInput {
  url: URL
  /** The checked address that is dialled, whatever the URL's name means by now. */
  target: Dialable
  body: string
  headers: Readonly<Record<string, string>>
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

export type Exchanged = ({ ok: true } & Head) | ({ ok: false; neverLeft: boolean } & Failure)

/** The status line has come; the body may still be coming. */
export interface Head {
  statusCode: number
  snippet: Snippet
  /** Hangs up; must be called. */
  close(): void
}

const MAX_HEADER_BYTES = 16_384

/**
 * One POST on a connection of its own, up to the response's status line and headers, or the system's error,
 * or `TimeoutError` after an abort of `signal`. Never rejects.
 *
 * Not by `fetch`: it obeys HTTP_PROXY and HTTPS_PROXY without a way to decline, and a proxy would look the name up again.
 * This one follows no redirect, unpacks nothing, bounds headers (HPE_HEADER_OVERFLOW) and drops the rest of a long body.
 */
export function exchange(input: ExchangeInput, signal: AbortSignal): Promise<Exchanged> {
  return new Promise((resolve) =>
    new Exchange(new Connection(endpointOf(input), MAX_HEADER_BYTES), resolve).begin(input, signal),
  )
}

function endpointOf({ url, target, ca }: ExchangeInput): Endpoint {
  const tls = { serverName: bareHost(url.hostname), insists: true, ...(ca === undefined ? {} : { ca }) }
  return { hostname: target.address, port: portOf(url), tls: url.protocol === 'https:' ? tls : null }
}

function textOf({ url, body, headers }: ExchangeInput): string {
  const lines = headerLines({ host: url.host, connection: 'close', ...headers })
  return requestText('POST', `${url.pathname}${url.search}`, lines, body)
}

class Exchange implements ExchangeListener {
  readonly #snippet = new Snippet()

  constructor(
    private readonly connection: Connection,
    private readonly resolve: (exchanged: Exchanged) => void,
  ) {}

  begin(input: ExchangeInput, signal: AbortSignal): void {
    const expired = (): void => {
      this.connection.destroy()
      this.fail({ code: 'TimeoutError', neverLeft: this.connection.neverLeft })
    }
    if (signal.aborted) return expired()
    signal.addEventListener('abort', expired, { once: true })
    this.connection.send(textOf(input), this)
  }

  head({ status }: ResponseHead): void {
    const close = (): void => this.connection.destroy()
    this.resolve({ ok: true, statusCode: status, snippet: this.#snippet, close })
  }

  body(bytes: Uint8Array): void {
    this.#snippet.add(bytes)
  }

  end(): void {
    this.#snippet.end()
  }

  fail({ code, neverLeft }: Pick<ConnectionFailure, 'code' | 'neverLeft'>): void {
    this.#snippet.end()
    // Says nothing any more where the status line has come.
    this.resolve({ ok: false, neverLeft, ...failureOf({ code }) })
  }
}
