import { HttpConnection, type HttpEndpoint, type HttpExchangeListener } from './http-connection.ts'
import { HttpResponseReader } from './http-response-reader.ts'
import type { WritableRequest } from './request-text.ts'

/** Servers and load balancers keep idle connections longer than this, so a request seldom gets a closed connection. */
const MAX_IDLE_MS = 30_000
/**
 * A connection that was idle for longer than this is checked before use. The server may have closed it while the event
 * loop was busy.
 */
const CHECK_AFTER_IDLE_MS = 50

interface IdleConnection {
  connection: HttpConnection
  since: number
}

/**
 * Keeps connections to one endpoint for further requests. A request takes the latest one, so that the others reach
 * their idle limit.
 */
export class HttpConnectionPool {
  readonly #endpoint: HttpEndpoint
  readonly #maxHeadBytes: number
  readonly #maxIdleMs: number
  /** Idle connections; the one that has been idle longest is first. */
  readonly #idle: IdleConnection[] = []
  #sweep: Timer | null = null

  /** `maxHeadBytes` limits the head of one response. */
  constructor(endpoint: HttpEndpoint, maxHeadBytes: number, maxIdleMs = MAX_IDLE_MS) {
    this.#endpoint = endpoint
    this.#maxHeadBytes = maxHeadBytes
    this.#maxIdleMs = maxIdleMs
  }

  /**
   * Starts one exchange. The caller may destroy the returned connection. `onNewConnection` prevents the use of a kept
   * connection.
   */
  send(request: WritableRequest, listener: HttpExchangeListener, onNewConnection = false): HttpConnection {
    const kept = onNewConnection ? null : this.#takeIdle()
    const connection = kept?.connection ?? this.#dial()
    connection.send(request, listener, kept !== null && performance.now() - kept.since > CHECK_AFTER_IDLE_MS)
    return connection
  }

  #takeIdle(): IdleConnection | null {
    for (let latest = this.#idle.pop(); latest !== undefined; latest = this.#idle.pop()) {
      if (latest.connection.isOpen && performance.now() - latest.since < this.#maxIdleMs) return latest
      latest.connection.destroy()
    }
    return null
  }

  #dial(): HttpConnection {
    const reader = new HttpResponseReader(this.#maxHeadBytes)
    return new HttpConnection(this.#endpoint, reader, (connection) => this.#keep(connection))
  }

  #keep(connection: HttpConnection): void {
    this.#idle.push({ connection, since: performance.now() })
    if (this.#sweep === null) this.#sweepLater()
  }

  #sweepLater(): void {
    this.#sweep = setTimeout(() => this.#closeOld(), this.#maxIdleMs).unref()
  }

  #closeOld(): void {
    const oldest = performance.now() - this.#maxIdleMs
    const firstKept = this.#idle.findIndex(({ connection, since }) => connection.isOpen && since > oldest)
    const old = this.#idle.splice(0, firstKept === -1 ? this.#idle.length : firstKept)
    for (const { connection } of old) connection.destroy()
    this.#sweep = null
    if (this.#idle.length > 0) this.#sweepLater()
  }
}
