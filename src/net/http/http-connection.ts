import type * as Net from 'node:net'
import type * as Tls from 'node:tls'
import type { HttpResponseListener, HttpResponseReader } from './http-response-reader.ts'
import type { WritableRequest } from './request-text.ts'

/** The server to dial. */
export interface HttpEndpoint {
  /** A name or an address; IPv6 without brackets. */
  hostname: string
  port: number
  /** Null for plain TCP. */
  tls: HttpTlsOptions | null
}

export interface HttpTlsOptions {
  /** The name that the certificate must be valid for; by default `hostname`. It is sent as SNI unless it is an address. */
  serverName?: string
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
  /** Verifies certificates even with NODE_TLS_REJECT_UNAUTHORIZED=0. */
  alwaysVerify?: boolean
}

/** Receives the events of one exchange. The last call is either `end` or `fail`. */
export interface HttpExchangeListener extends HttpResponseListener {
  /** The response is complete. */
  end(): void
  fail(failure: HttpFailure): void
}

export interface HttpFailure {
  /** A code of the system, of llhttp (`HPE_…`), of BoringSSL (`CERT_HAS_EXPIRED`) or of the response reader. */
  code: string
  /** No byte of the request was written, so the server cannot have seen it. */
  neverLeft: boolean
  /** A kept connection ended before a byte of the response, most likely because the server had closed it earlier. */
  isStale: boolean
}

/**
 * One HTTP/1.1 connection with one exchange at a time. It writes each request once and never repeats one. README.md lists
 * the guarantees.
 */
export class HttpConnection {
  readonly #reader: HttpResponseReader
  readonly #socket: Net.Socket
  readonly #onIdle: ((connection: HttpConnection) => void) | null
  #state: 'connecting' | 'open' | 'closed' = 'connecting'
  #listener: HttpExchangeListener | null = null
  /** The request until it is written, then null. */
  #unwritten: WritableRequest | null = null
  #hasRead = false
  #exchanges = 0

  /**
   * Dials. The listener of the first exchange learns of a failure. `reader` is only for this connection. `onIdle` is called when another
   * request may follow. Without `onIdle`, the connection ends with the first response.
   */
  constructor(
    endpoint: HttpEndpoint,
    reader: HttpResponseReader,
    onIdle: ((connection: HttpConnection) => void) | null = null,
  ) {
    this.#reader = reader
    this.#onIdle = onIdle
    this.#socket = dial(endpoint)
    this.#socket.on('data', (bytes: Buffer) => this.#read(bytes))
    this.#socket.on('end', () => this.#ended(null))
    this.#socket.on('error', (error) => this.#ended(codeOf(error)))
    this.#socket.on('close', () => this.#ended(null))
    // With TLS, nothing is written before the handshake has verified the certificate.
    this.#socket.once(endpoint.tls === null ? 'connect' : 'secureConnect', () => this.#open())
  }

  /**
   * Writes one request as soon as the connection is open. `checkFirst` delays the write by one tick of the event loop: a connection that the
   * server has closed in the meantime fails before the request is written.
   */
  send(request: WritableRequest, listener: HttpExchangeListener, checkFirst = false): void {
    this.#listener = listener
    this.#unwritten = request
    this.#hasRead = false
    this.#exchanges++
    this.#reader.expect(listener)
    this.#socket.ref()
    if (this.#state === 'closed') this.#fail('ECONNRESET')
    else if (checkFirst) afterOneTurn(() => this.#write())
    else this.#write()
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether no byte of the latest request was written. */
  get neverLeft(): boolean {
    return this.#unwritten !== null
  }

  /** Closes the connection immediately. The listener gets no further call. */
  destroy(): void {
    this.#listener = null
    this.#state = 'closed'
    this.#reader.close()
    this.#socket.destroy()
  }

  #open(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    this.#write()
  }

  #write(): void {
    if (this.#state !== 'open' || this.#unwritten === null) return
    if (typeof this.#unwritten === 'string') this.#socket.write(this.#unwritten)
    else for (const piece of this.#unwritten) this.#socket.write(piece)
    this.#unwritten = null
  }

  #read(bytes: Buffer): void {
    const listener = this.#listener
    // The server sent bytes without a request: it is closing the connection (408), or it is faulty.
    if (listener === null || this.neverLeft) return this.#fail('ECONNRESET')
    this.#hasRead = true
    const code = this.#reader.read(bytes)
    if (this.#listener !== listener) return
    if (code !== null) this.#fail(code)
    else if (this.#reader.isComplete) this.#end(listener)
  }

  #end(listener: HttpExchangeListener): void {
    this.#listener = null
    // If the response came before the request was sent completely, the server may read the rest as another request.
    const isSent = this.#socket.writableLength === 0
    if (this.#onIdle !== null && this.isOpen && this.#reader.isReusable && isSent) {
      // An idle connection does not keep the process alive.
      this.#socket.unref()
      this.#onIdle(this)
    } else this.destroy()
    listener.end()
  }

  /** `code`: null if the server has closed the connection normally. */
  #ended(code: string | null): void {
    const listener = this.#listener
    if (code === null && listener !== null) this.#reader.finish()
    if (listener === null || !this.#reader.isComplete) return this.#fail(code ?? 'ECONNRESET')
    this.#state = 'closed'
    this.#end(listener)
  }

  #fail(code: string): void {
    const listener = this.#listener
    const isStale = this.#exchanges > 1 && !this.#hasRead
    this.destroy()
    listener?.fail({ code, neverLeft: this.neverLeft, isStale })
  }
}

/** Runs after the event loop has polled the sockets: the first immediate runs before that, the second one after it. */
const afterOneTurn = (run: () => void): void => void setImmediate(() => setImmediate(run))

function dial({ hostname, port, tls: secure }: HttpEndpoint): Net.Socket {
  const where = { host: hostname, port, noDelay: true }
  return secure === null ? net().connect(where) : tls().connect({ ...where, ...tlsSettings(hostname, secure) })
}

/**
 * RFC 6066: an address must not be a server name. Without a server name, the certificate must be valid for the dialed
 * address.
 */
function tlsSettings(
  hostname: string,
  { serverName = hostname, ca, alwaysVerify }: HttpTlsOptions,
): Tls.ConnectionOptions {
  return {
    ...(net().isIP(serverName) === 0 ? { servername: serverName } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(alwaysVerify === true ? { rejectUnauthorized: true } : {}),
  }
}

/** Loaded with the first connection, so that the process starts faster. */
const net = (): typeof Net => process.getBuiltinModule('node:net')
const tls = (): typeof Tls => process.getBuiltinModule('node:tls')

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : 'ECONNRESET')
