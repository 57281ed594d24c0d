export interface LoggedRequest {
  /** The arrival, in epoch milliseconds of the simulator's clock. */
  at: number
  method: string
  path: string
  /** The route's name, or null for an unknown path. */
  route: string | null
  extensionId: string | null
  /** Null if no answer was sent: the connection was cut, or the client disconnected. */
  status: number | null
  /** The kind of the played fault. */
  fault: string | null
}

export interface Counters {
  /** By route name. */
  requests: Record<string, number>
  /** By HTTP status, and `cut` for connections cut without one. */
  answers: Record<string, number>
  smsAccepted: number
  handshakes: number
  eventsDelivered: number
  eventsFailed: number
  eventsDropped: number
}

const MAX_ENTRIES = 10_000

/** The last requests, and totals since the start. */
export class RequestLog {
  #ring: LoggedRequest[] = []
  #oldest = 0
  readonly counters: Counters = {
    requests: {},
    answers: {},
    smsAccepted: 0,
    handshakes: 0,
    eventsDelivered: 0,
    eventsFailed: 0,
    eventsDropped: 0,
  }

  add(entry: LoggedRequest): void {
    count(this.counters.requests, entry.route ?? 'unknown')
    count(this.counters.answers, entry.status === null ? 'cut' : String(entry.status))
    if (this.#ring.length < MAX_ENTRIES) {
      this.#ring.push(entry)
      return
    }
    this.#ring[this.#oldest] = entry
    this.#oldest = (this.#oldest + 1) % MAX_ENTRIES
  }

  /** Oldest first. */
  entries(): LoggedRequest[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)]
  }

  clear(): void {
    this.#ring = []
    this.#oldest = 0
  }
}

function count(totals: Record<string, number>, name: string): void {
  totals[name] = (totals[name] ?? 0) + 1
}
