/**
 * A closed-loop HTTP load: each connection sends a request, waits for its answer, and sends the next. Raw sockets, so
 * that the load costs little.
 */
export interface LoadOptions {
  hostname: string
  port: number
  connections: number
  /** How long to measure, after a warm-up of a tenth of it. */
  durationMs: number
  /** The whole request number `n`, headers and body. */
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
  /** Bytes of the current answer that are still to come; null before its headers have been read. */
  left: number | null
  head: string
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

  /** One connection's life. */
  async connection(): Promise<void> {
    const { hostname, port } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    await Bun.connect<Connection>({
      hostname,
      port,
      data: { sentAt: 0, left: null, head: '' },
      socket: {
        open: (socket) => this.#send(socket),
        data: (socket, chunk) => this.#heard(socket, chunk),
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    })
    await promise
  }

  result(): LoadResult {
    const sorted = Float64Array.from(this.#latencies).toSorted()
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    const requestsPerSecond = Math.round((this.#latencies.length / this.options.durationMs) * 1000)
    return { requestsPerSecond, p50: at(0.5), p99: at(0.99), statuses: this.#statuses }
  }

  #send(socket: Bun.Socket<Connection>): void {
    const now = performance.now()
    if (now > this.#until) return void socket.end()
    Object.assign(socket.data, { sentAt: now, left: null, head: '' })
    socket.write(this.options.request(this.#sent++))
  }

  #heard(socket: Bun.Socket<Connection>, chunk: Buffer): void {
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

/** Answers the status when the answer is complete. */
function take(connection: Connection, chunk: Buffer): string | null {
  if (connection.left === null) {
    connection.head += chunk.toString('latin1')
    const end = connection.head.indexOf('\r\n\r\n')
    if (end < 0) return null
    const length = Number(/content-length: (\d+)/i.exec(connection.head)?.[1] ?? 0)
    connection.left = length - (connection.head.length - end - 4)
  } else connection.left -= chunk.length
  return connection.left <= 0 ? connection.head.slice(9, 12) : null
}
