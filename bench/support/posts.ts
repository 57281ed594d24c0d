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

  /** How many are open at this moment. */
  get open(): number {
    return this.all.filter(({ isOpen }) => isOpen).length
  }

  [Symbol.dispose](): void {
    for (const connection of this.all) connection.close()
  }
}

const CLOSED = 'The server closed the connection, with a request under way'

/**
 * A server may close a connection that has been silent, such as ours after 30 s, and one burst may wait so long for the last call of the one
 * before. So a connection that is closed between two requests is reopened.
 */
class Connection {
  #head = ''
  #left = 0
  #answered: PromiseWithResolvers<string> | null = null
  #socket: Bun.Socket | null = null

  private constructor(readonly port: number) {}

  static async open(port: number): Promise<Connection> {
    const connection = new Connection(port)
    await connection.#open()
    return connection
  }

  async #open(): Promise<Bun.Socket> {
    this.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: this.port,
      socket: {
        data: (_, chunk) => this.#received(chunk),
        close: () => {
          this.#socket = null
          this.#answered?.reject(new Error(CLOSED))
        },
      },
    })
    return this.#socket
  }

  get isOpen(): boolean {
    return this.#socket !== null
  }

  /** Returns the status. */
  async post(request: string): Promise<string> {
    const socket = this.#socket ?? (await this.#open())
    this.#head = ''
    const answered = Promise.withResolvers<string>()
    this.#answered = answered
    socket.write(request)
    return answered.promise.finally(() => (this.#answered = null))
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
