/** A closed-loop HTTP load: each connection sends a request, waits for its answer, and sends the next. Raw sockets, so that the load costs little. */
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
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const measureFrom = performance.now() + options.durationMs / 10
  const until = measureFrom + options.durationMs
  let sent = 0
  const finished: Promise<void>[] = []
  for (let i = 0; i < options.connections; i++) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    finished.push(promise)
    const send = (socket: Bun.Socket<Connection>): void => {
      if (performance.now() > until) {
        socket.end()
        return
      }
      socket.data.sentAt = performance.now()
      socket.data.left = null
      socket.data.head = ''
      socket.write(options.request(sent++))
    }
    await Bun.connect<Connection>({
      hostname: options.hostname,
      port: options.port,
      data: { sentAt: 0, left: null, head: '' },
      socket: {
        open: send,
        data(socket, chunk) {
          const status = take(socket.data, chunk)
          if (status === null) return
          const now = performance.now()
          if (now >= measureFrom && now <= until) {
            latencies.push(now - socket.data.sentAt)
            statuses[status] = (statuses[status] ?? 0) + 1
          }
          send(socket)
        },
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    })
  }
  await Promise.all(finished)
  return summary(latencies, statuses, options.durationMs)
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

function summary(latencies: number[], statuses: Record<string, number>, durationMs: number): LoadResult {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { requestsPerSecond: Math.round((latencies.length / durationMs) * 1000), p50: at(0.5), p99: at(0.99), statuses }
}
