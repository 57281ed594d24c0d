import { isIP } from 'node:net'
import { ResponseReader, type ResponseListener } from './response-reader.ts'

/** Where to dial. */
export interface Endpoint {
  /** A name or an address; IPv6 without brackets. */
  hostname: string
  port: number
  /** Null for plain TCP. */
  tls: TlsOptions | null
}

export interface TlsOptions {
  /** What the certificate must be for, and what is sent to the server unless it is an address; `hostname` if absent. */
  serverName?: string
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

/** One request's side of the connection: exactly one of `end` and `fail` is called, at last. */
export interface ExchangeListener extends ResponseListener {
  /** The response has come to its end. */
  end(): void
  fail(failure: ConnectionFailure): void
}

export interface ConnectionFailure {
  /** The system's code, llhttp's (`HPE_…`), or BoringSSL's (`CERT_HAS_EXPIRED`). */
  code: string
  /** Nothing of the request was handed to the network: the server cannot have seen it. */
  neverLeft: boolean
  /** A kept connection ended without a byte of a response: the server had most likely closed it before. */
  isStale: boolean
}

/**
 * One connection, one exchange at a time, HTTP/1.1. By Bun's sockets, in the turn of the event loop that hands the request
 * over: `fetch` takes three to six times as much, and keeps 64 connections for the whole process (decision 24).
 * A request is written once and never again: whoever must not send twice decides from `neverLeft`.
 */
export class Connection {
  readonly #reader: ResponseReader
  readonly #isSecure: boolean
  /** Called when another request may follow. */
  readonly #onIdle: ((connection: Connection) => void) | null
  #socket: Bun.Socket<Connection> | null = null
  #state: 'connecting' | 'open' | 'closed' = 'connecting'
  #listener: ExchangeListener | null = null
  /** What is to be written: a whole request before the connection is there, or the rest of one. */
  #unwritten: string | Uint8Array | null = null
  #hasWritten = false
  #hasRead = false
  #exchanges = 0

  /** Dials. Failures are told to the listener of the first exchange. `maxHeadBytes`: of one response, without its body. */
  constructor(endpoint: Endpoint, maxHeadBytes: number, onIdle: ((connection: Connection) => void) | null = null) {
    this.#reader = new ResponseReader(maxHeadBytes)
    this.#isSecure = endpoint.tls !== null
    this.#onIdle = onIdle
    const { hostname, port, tls } = endpoint
    const secure = tls === null ? {} : { tls: tlsSettings(hostname, tls) }
    const dial = { hostname, port, ...secure, data: this, socket: Connection.#handlers }
    // Bun throws at once at what it cannot dial at all.
    Promise.try(() => Bun.connect<Connection>(dial)).catch((error: unknown) => this.#close(codeOf(error)))
  }

  /** Writes one whole request, now or when the connection is there. */
  send(request: string, listener: ExchangeListener): void {
    this.#listener = listener
    this.#hasWritten = false
    this.#hasRead = false
    this.#exchanges++
    this.#unwritten = request
    this.#reader.expect(listener)
    if (this.#state === 'open') this.#write()
    else if (this.#state === 'closed') this.#fail('ECONNRESET')
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Nothing of the last request was handed to the network. */
  get neverLeft(): boolean {
    return !this.#hasWritten
  }

  /** Hangs up in the middle of whatever happens; nobody is told anything any more. */
  destroy(): void {
    this.#leave()
    this.#socket?.terminate()
  }

  /** Says goodbye: no more is wanted. Nobody is told anything any more. */
  close(): void {
    this.#leave()
    this.#socket?.end()
  }

  #leave(): void {
    this.#listener = null
    this.#state = 'closed'
  }

  static readonly #handlers: Bun.SocketHandler<Connection> = {
    open: (socket) => socket.data.#connected(socket),
    handshake: (socket, succeeded, error) => socket.data.#shookHands(succeeded, error),
    data: (socket, bytes) => socket.data.#read(bytes),
    drain: (socket) => socket.data.#drained(),
    close: (socket, error) => socket.data.#close(error === undefined ? null : codeOf(error)),
    error: (socket, error) => socket.data.#close(codeOf(error)),
  }

  #connected(socket: Bun.Socket<Connection>): void {
    this.#socket = socket
    // Whoever waits for a response has a deadline; a kept connection holds up no end of the process.
    socket.unref()
    if (this.#state === 'closed') socket.terminate()
    else if (!this.#isSecure) this.#open()
  }

  #shookHands(succeeded: boolean, error: Error | null): void {
    if (succeeded) this.#open()
    else this.#close(codeOf(error))
  }

  #open(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    this.#write()
  }

  #drained(): void {
    if (this.#hasWritten) this.#write()
  }

  #write(): void {
    const rest = this.#unwritten
    if (rest === null || this.#socket === null) return
    this.#hasWritten = true
    const written = this.#socket.write(rest)
    if (written === (typeof rest === 'string' ? Buffer.byteLength(rest) : rest.length)) this.#unwritten = null
    // A socket that is closed takes -1; its `close` follows.
    else this.#unwritten = Buffer.from(rest).subarray(Math.max(0, written))
  }

  #read(bytes: Uint8Array): void {
    const listener = this.#listener
    // Nothing was asked for: a server that says goodbye (408), or one that is confused.
    if (listener === null) return this.destroy()
    this.#hasRead = true
    const code = this.#reader.read(bytes)
    if (this.#listener !== listener) return
    if (code !== null) this.#fail(code)
    else if (this.#reader.isComplete) this.#end(listener)
  }

  #end(listener: ExchangeListener): void {
    this.#listener = null
    if (this.#onIdle !== null && this.#reader.isReusable && this.#unwritten === null && this.isOpen) this.#onIdle(this)
    else this.close()
    listener.end()
  }

  /** `code` is null where the other side has just ended. */
  #close(code: string | null): void {
    const listener = this.#listener
    if (code === null && listener !== null) {
      this.#reader.finish()
      if (this.#reader.isComplete) return this.#end(listener)
    }
    this.#fail(code ?? 'ECONNRESET')
  }

  #fail(code: string): void {
    const listener = this.#listener
    const isStale = this.#exchanges > 1 && !this.#hasRead
    this.destroy()
    listener?.fail({ code, neverLeft: this.neverLeft, isStale })
  }
}

/**
 * Certificates are always checked, also under NODE_TLS_REJECT_UNAUTHORIZED=0. RFC 6066: an address is never a server name;
 * without one the certificate must name the address that is dialled.
 */
function tlsSettings(hostname: string, { serverName = hostname, ca }: TlsOptions): Bun.TLSOptions {
  const name = isIP(serverName) === 0 ? serverName : ''
  return { serverName: name, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ECONNRESET'
