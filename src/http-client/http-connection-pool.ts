import { HttpConnection, type HttpEndpoint, type HttpExchangeListener } from './http-connection.ts'

/** Shorter than servers and load balancers keep idle connections, so that a request seldom gets a closed one. */
const MAX_IDLE_MS = 30_000
/** After an idle time this long the server may have closed the connection while the event loop was busy. */
const CHECK_AFTER_IDLE_MS = 50

interface IdleConnection {
  connection: HttpConnection
  since: number
}

/** Keeps connections to one endpoint for further requests. The latest one is used first, so that the others reach their idle limit. */
export class HttpConnectionPool {
  readonly #endpoint: HttpEndpoint
  readonly #maxHeadBytes: number
  readonly #maxIdleMs: number
  /** Idle connections; the one that has been idle longest is first. */
  readonly #idle: IdleConnection[] = []
  #sweep: Timer | null = null

  /** `maxHeadBytes`: of one response. */
  constructor(endpoint: HttpEndpoint, maxHeadBytes: number, maxIdleMs = MAX_IDLE_MS) {
    this.#endpoint = endpoint
    this.#maxHeadBytes = maxHeadBytes
    this.#maxIdleMs = maxIdleMs
  }

  /** Starts one exchange. The caller may destroy the returned connection. `onNewConnection`: do not use a kept connection. */
  send(request: string, listener: HttpExchangeListener, onNewConnection = false): HttpConnection {
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
    return new HttpConnection(this.#endpoint, this.#maxHeadBytes, (connection) => this.#keep(connection))
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
