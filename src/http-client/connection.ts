import type * as Net from 'node:net'
import type * as Tls from 'node:tls'
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
  /** Certificates are checked also under NODE_TLS_REJECT_UNAUTHORIZED=0. */
  insists?: boolean
}

/** One request's side of the connection: exactly one of `end` and `fail` is called, at last. */
export interface ExchangeListener extends ResponseListener {
  /** The response has come to its end. */
  end(): void
  fail(failure: ConnectionFailure): void
}

export interface ConnectionFailure {
  /** The system's code, llhttp's (`HPE_…`), BoringSSL's (`CERT_HAS_EXPIRED`), or the reader's. */
  code: string
  /** Nothing of the request was handed to the network: the server cannot have seen it. */
  neverLeft: boolean
  /** A kept connection ended without a byte of a response: the server had most likely closed it before. */
  isStale: boolean
}

/**
 * One connection, one exchange at a time, HTTP/1.1. In the turn of the event loop that hands the request over: on a kept
 * connection `fetch` takes six times as much, and it keeps 64 for the whole process (decision 24).
 * A request is written once and never again: whoever must not send twice decides from `neverLeft`.
 */
export class Connection {
  readonly #reader: ResponseReader
  readonly #socket: Net.Socket
  /** Called when another request may follow. */
  readonly #onIdle: ((connection: Connection) => void) | null
  #state: 'connecting' | 'open' | 'closed' = 'connecting'
  #listener: ExchangeListener | null = null
  /** A request that waits for the connection. */
  #waiting: string | null = null
  #hasRead = false
  #exchanges = 0

  /** Dials. Failures are told to the listener of the first exchange. `maxHeadBytes`: of one response, without its body. */
  constructor(endpoint: Endpoint, maxHeadBytes: number, onIdle: ((connection: Connection) => void) | null = null) {
    this.#reader = new ResponseReader(maxHeadBytes)
    this.#onIdle = onIdle
    this.#socket = dial(endpoint)
    this.#socket.on('data', (bytes: Uint8Array) => this.#read(bytes))
    this.#socket.on('end', () => this.#ended(null))
    this.#socket.on('error', (error) => this.#ended(codeOf(error)))
    this.#socket.on('close', () => this.#ended(null))
    // Not before the handshake: until then the server has not shown who it is.
    this.#socket.once(endpoint.tls === null ? 'connect' : 'secureConnect', () => this.#open())
  }

  /**
   * Writes one whole request, now or when the connection is there. `afterALook`: in the next turn of the event loop, when
   * an end that came while it stood still has been seen.
   */
  send(request: string, listener: ExchangeListener, afterALook = false): void {
    this.#listener = listener
    this.#hasRead = false
    this.#exchanges++
    this.#waiting = request
    this.#reader.expect(listener)
    this.#socket.ref()
    if (this.#state === 'closed') this.#fail('ECONNRESET')
    else if (afterALook) afterOneTurn(() => this.#write())
    else this.#write()
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Nothing of the last request was handed to the network. */
  get neverLeft(): boolean {
    return this.#waiting !== null
  }

  /** Hangs up; nobody is told anything any more. */
  destroy(): void {
    this.#listener = null
    this.#reader.ignore()
    this.#state = 'closed'
    this.#socket.destroy()
  }

  #open(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'open'
    this.#write()
  }

  #write(): void {
    if (this.#state !== 'open' || this.#waiting === null) return
    this.#socket.write(this.#waiting)
    this.#waiting = null
  }

  #read(bytes: Uint8Array): void {
    const listener = this.#listener
    // Nothing was asked for: a server that says goodbye (408), or one that is confused.
    if (listener === null || this.neverLeft) return this.#fail('ECONNRESET')
    this.#hasRead = true
    const code = this.#reader.read(bytes)
    if (this.#listener !== listener) return
    if (code !== null) this.#fail(code)
    else if (this.#reader.isComplete) this.#end(listener)
  }

  #end(listener: ExchangeListener): void {
    this.#listener = null
    // Of a request that was answered before it was there, nobody knows where the next one would begin.
    const isWritten = this.#socket.writableLength === 0
    if (this.#onIdle === null || !this.isOpen || !this.#reader.isReusable || !isWritten) this.destroy()
    else {
      // A kept connection holds up no end of the process.
      this.#socket.unref()
      this.#onIdle(this)
    }
    listener.end()
  }

  /** `code` is null where the other side has just ended. */
  #ended(code: string | null): void {
    const listener = this.#listener
    if (code === null && listener !== null) {
      this.#reader.finish()
      if (this.#reader.isComplete) {
        this.#state = 'closed'
        return this.#end(listener)
      }
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

/** An immediate runs before the sockets are looked at, another one after it. */
const afterOneTurn = (run: () => void): void => void setImmediate(() => setImmediate(run))

function dial({ hostname, port, tls: secure }: Endpoint): Net.Socket {
  const where = { host: hostname, port, noDelay: true }
  return secure === null ? net().connect(where) : tls().connect({ ...where, ...tlsSettings(hostname, secure) })
}

/** RFC 6066: an address is never a server name; without one the certificate must name the address that is dialled. */
function tlsSettings(hostname: string, { serverName = hostname, ca, insists }: TlsOptions): Tls.ConnectionOptions {
  return {
    ...(net().isIP(serverName) === 0 ? { servername: serverName } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(insists === true ? { rejectUnauthorized: true } : {}),
  }
}

/** With the first connection: together with the parser they would cost every start some ten milliseconds. */
const net = (): typeof Net => process.getBuiltinModule('node:net')
const tls = (): typeof Tls => process.getBuiltinModule('node:tls')

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : 'ECONNRESET')
