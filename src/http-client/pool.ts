import { Connection, type Endpoint, type ExchangeListener } from './connection.ts'

/** Shorter than servers and balancers keep an idle connection, so that a request seldom meets one that is just closed. */
const MAX_IDLE_MS = 30_000

/**
 * Connections to one endpoint, kept for the next request: the one that was used last goes first, so that those that a
 * burst has opened grow old.
 */
export class ConnectionPool {
  readonly #endpoint: Endpoint
  readonly #maxHeadBytes: number
  readonly #maxIdleMs: number
  /** Oldest first. */
  readonly #idle: { connection: Connection; since: number }[] = []
  #sweep: Timer | null = null

  /** `maxHeadBytes`: of one response, without its body. */
  constructor(endpoint: Endpoint, maxHeadBytes: number, maxIdleMs = MAX_IDLE_MS) {
    this.#endpoint = endpoint
    this.#maxHeadBytes = maxHeadBytes
    this.#maxIdleMs = maxIdleMs
  }

  /** One exchange; the connection is answered so that it can be hung up. `fresh`: never on a kept one. */
  send(request: string, listener: ExchangeListener, fresh = false): Connection {
    const connection = (fresh ? null : this.#kept()) ?? this.#dial()
    connection.send(request, listener)
    return connection
  }

  #kept(): Connection | null {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.connection.isOpen && performance.now() - last.since < this.#maxIdleMs) return last.connection
      last.connection.close()
    }
    return null
  }

  #dial(): Connection {
    return new Connection(this.#endpoint, this.#maxHeadBytes, (connection) => this.#keep(connection))
  }

  #keep(connection: Connection): void {
    this.#idle.push({ connection, since: performance.now() })
    if (this.#sweep === null) this.#sweepLater()
  }

  #sweepLater(): void {
    this.#sweep = setTimeout(() => this.#dropOld(), this.#maxIdleMs).unref()
  }

  #dropOld(): void {
    const oldest = performance.now() - this.#maxIdleMs
    const young = this.#idle.findIndex(({ connection, since }) => connection.isOpen && since > oldest)
    for (const { connection } of this.#idle.splice(0, young === -1 ? this.#idle.length : young)) connection.close()
    this.#sweep = null
    if (this.#idle.length > 0) this.#sweepLater()
  }
}
