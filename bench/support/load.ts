/**
 * A closed-loop HTTP load: each connection sends a request, waits for its answer and sends the next. It uses raw sockets,
 * which take little CPU time.
 */
export interface LoadOptions {
  hostname: string
  port: number
  connections: number
  /** The duration of the measurement. A tenth of it precedes as a warm-up. */
  durationMs: number
  /** Returns the complete request number `n`, headers and body. */
  request(n: number): string
}

export interface LoadResult {
  requestsPerSecond: number
  /** Latencies in milliseconds. */
  p50: number
  p99: number
  /** Answers by status. */
  statuses: Record<string, number>
}

interface Connection {
  sentAt: number
  /** The number of missing bytes of the current answer. Null before its headers have been read. */
  left: number | null
  head: string
  /** The last bytes of a chunked answer, which show whether it is complete. */
  end: string
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const run = new Run(options)
  await Promise.all(Array.from({ length: options.connections }, () => run.connection()))
  return run.result()
}

class Run {
  readonly #latencies: number[] = []
  readonly #statuses: Record<string, number> = {}
  readonly #from: number
  readonly #until: number
  #sent = 0

  constructor(readonly options: LoadOptions) {
    this.#from = performance.now() + options.durationMs / 10
    this.#until = this.#from + options.durationMs
  }

  /** Runs one connection. */
  async connection(): Promise<void> {
    const { hostname, port } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    await Bun.connect<Connection>({
      hostname,
      port,
      data: { sentAt: 0, left: null, head: '', end: '' },
      socket: {
        open: (socket) => this.#send(socket),
        data: (socket, chunk) => this.#received(socket, chunk),
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    })
    await promise
  }

  result(): LoadResult {
    const sorted = Float64Array.from(this.#latencies).toSorted()
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
    const requestsPerSecond = Math.round((this.#latencies.length / this.options.durationMs) * 1000)
    return { requestsPerSecond, p50: at(0.5), p99: at(0.99), statuses: this.#statuses }
  }

  #send(socket: Bun.Socket<Connection>): void {
    const now = performance.now()
    if (now > this.#until) return void socket.end()
    Object.assign(socket.data, { sentAt: now, left: null, head: '', end: '' })
    socket.write(this.options.request(this.#sent++))
  }

  #received(socket: Bun.Socket<Connection>, chunk: Buffer): void {
    const status = take(socket.data, chunk)
    if (status === null) return
    const now = performance.now()
    if (now >= this.#from && now <= this.#until) {
      this.#latencies.push(now - socket.data.sentAt)
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    }
    this.#send(socket)
  }
}

/** Returns the status when the answer is complete, else null. */
function take(connection: Connection, chunk: Buffer): string | null {
  const { left } = connection
  connection.end = (connection.end + chunk.toString('latin1', Math.max(0, chunk.length - LAST_CHUNK.length))).slice(
    -LAST_CHUNK.length,
  )
  connection.left = left === null ? takeHead(connection, chunk) : left - chunk.length
  if (connection.left === null) return null
  const complete = connection.left === Infinity ? connection.end === LAST_CHUNK : connection.left <= 0
  return complete ? connection.head.slice(9, 12) : null
}

const LAST_CHUNK = '0\r\n\r\n'

/** Returns the number of missing bytes: infinite for a chunked answer, null while the head is incomplete. */
function takeHead(connection: Connection, chunk: Buffer): number | null {
  connection.head += chunk.toString('latin1')
  const { head } = connection
  const end = head.indexOf('\r\n\r\n')
  if (end < 0) return null
  const length = /content-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined && /transfer-encoding: chunked/i.test(head)) return Infinity
  return Number(length ?? 0) - (head.length - end - 4)
}
