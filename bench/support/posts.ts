/** Raw connections that are kept alive and POST one request at a time. They take little CPU time. */
export class Connections implements Disposable {
  private constructor(readonly all: readonly Connection[]) {}

  static async open(port: number, count: number): Promise<Connections> {
    return new Connections(await Promise.all(Array.from({ length: count }, () => Connection.open(port))))
  }

  /** Sends every request once. A connection takes the next request when it is free. Returns the latencies and refusals. */
  async postAll(requests: readonly string[]): Promise<{ latencies: number[]; refused: number }> {
    const latencies: number[] = []
    let next = 0
    let refused = 0
    const work = async (connection: Connection): Promise<void> => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        const startedAt = performance.now()
        const status = await connection.post(request)
        latencies.push(performance.now() - startedAt)
        if (!status.startsWith('2')) refused++
      }
    }
    await Promise.all(this.all.map(work))
    return { latencies, refused }
  }

  [Symbol.dispose](): void {
    for (const connection of this.all) connection.close()
  }
}

const CLOSED = 'The server closed the connection'

class Connection {
  #head = ''
  #left = 0
  #answered: PromiseWithResolvers<string> | null = null
  #socket: Bun.Socket | null = null

  static async open(port: number): Promise<Connection> {
    const connection = new Connection()
    connection.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (_, chunk) => connection.#received(chunk),
        close: () => {
          connection.#socket = null
          connection.#answered?.reject(new Error(CLOSED))
        },
      },
    })
    return connection
  }

  /** Returns the status. */
  post(request: string): Promise<string> {
    if (this.#socket === null) return Promise.reject(new Error(CLOSED))
    this.#head = ''
    this.#answered = Promise.withResolvers<string>()
    this.#socket.write(request)
    return this.#answered.promise
  }

  close(): void {
    this.#answered = null
    this.#socket?.end()
  }

  #received(chunk: Buffer): void {
    if (this.#head.includes('\r\n\r\n')) this.#left -= chunk.length
    else {
      this.#head += chunk.toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? 0)
      this.#left = length - (this.#head.length - end - 4)
    }
    if (this.#left <= 0) this.#answered?.resolve(this.#head.slice(9, 12))
  }
}
