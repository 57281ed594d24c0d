/** The last requests, and totals since the start. */
export interface RequestLog {
  add(entry: LoggedRequest): void
  /** Oldest first. */
  entries(): LoggedRequest[]
  clear(): void
  counters: Counters
}

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

export function createRequestLog(): RequestLog {
  let ring: LoggedRequest[] = []
  let oldest = 0
  const counters: Counters = {
    requests: {},
    answers: {},
    smsAccepted: 0,
    handshakes: 0,
    eventsDelivered: 0,
    eventsFailed: 0,
    eventsDropped: 0,
  }

  function add(entry: LoggedRequest): void {
    count(counters.requests, entry.route ?? 'unknown')
    count(counters.answers, entry.status === null ? 'cut' : String(entry.status))
    if (ring.length < MAX_ENTRIES) {
      ring.push(entry)
      return
    }
    ring[oldest] = entry
    oldest = (oldest + 1) % MAX_ENTRIES
  }

  return {
    add,
    entries: () => [...ring.slice(oldest), ...ring.slice(0, oldest)],
    clear() {
      ring = []
      oldest = 0
    },
    counters,
  }
}

function count(totals: Record<string, number>, name: string): void {
  totals[name] = (totals[name] ?? 0) + 1
}
