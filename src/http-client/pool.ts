import { Connection, type Endpoint, type ExchangeListener } from './connection.ts'

/** Shorter than servers and balancers keep an idle connection, so that a request seldom meets one that is just closed. */
const MAX_IDLE_MS = 30_000
/** After so long a server may have closed it, while the event loop stood still. */
const UNSEEN_MS = 50

interface Kept {
  connection: Connection
  since: number
}

/**
 * Connections to one endpoint, kept for the next request: the one that was used last goes first, so that those that a
 * burst has opened grow old.
 */
export class ConnectionPool {
  readonly #endpoint: Endpoint
  readonly #maxHeadBytes: number
  readonly #maxIdleMs: number
  /** Oldest first. */
  readonly #idle: Kept[] = []
  #sweep: Timer | null = null

  /** `maxHeadBytes`: of one response, without its body. */
  constructor(endpoint: Endpoint, maxHeadBytes: number, maxIdleMs = MAX_IDLE_MS) {
    this.#endpoint = endpoint
    this.#maxHeadBytes = maxHeadBytes
    this.#maxIdleMs = maxIdleMs
  }

  /** One exchange; the connection is answered so that it can be hung up. `fresh`: never on a kept one. */
  send(request: string, listener: ExchangeListener, fresh = false): Connection {
    const kept = fresh ? null : this.#kept()
    const connection = kept?.connection ?? this.#dial()
    connection.send(request, listener, kept !== null && performance.now() - kept.since > UNSEEN_MS)
    return connection
  }

  #kept(): Kept | null {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.connection.isOpen && performance.now() - last.since < this.#maxIdleMs) return last
      last.connection.destroy()
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
    for (const { connection } of this.#idle.splice(0, young === -1 ? this.#idle.length : young)) connection.destroy()
    this.#sweep = null
    if (this.#idle.length > 0) this.#sweepLater()
  }
}
