import { type Server, type Socket, connect, createServer } from 'node:net'

/**
 * The network between one client and a storage: a TCP proxy on 127.0.0.1, with any length, sometimes silent and sometimes gone. Clients that
 * each have a proxy lose their networks one by one.
 */
export class DistantStorage implements AsyncDisposable {
  readonly #open = new Set<Socket>()
  #isAway = false
  #isHeld = false
  /** How many uploads have begun. */
  uploads = 0
  readonly #waiting: (() => void)[] = []

  private constructor(
    readonly server: Server,
    readonly target: URL,
    /** From the client to the storage and back. */
    public roundTripMs: number,
  ) {}

  static async start(target: string, roundTripMs: number): Promise<DistantStorage> {
    const server = createServer()
    const storage = new DistantStorage(server, new URL(target), roundTripMs)
    server.on('connection', (client) => storage.#connected(client))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return storage
  }

  get url(): string {
    const address = this.server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  }

  /** Cuts all connections and refuses new ones. */
  goAway(): void {
    this.#isAway = true
    for (const socket of this.#open) socket.destroy()
  }

  comeBack(): void {
    this.#isAway = false
  }

  /** Connections stay open and new ones are accepted, but nothing arrives on either side until `release`. */
  hold(): void {
    this.#isHeld = true
    for (const socket of this.#open) socket.pause()
  }

  /** What was held arrives now. */
  release(): void {
    this.#isHeld = false
    for (const socket of this.#open) socket.resume()
  }

  /** Resolves when an upload has begun, before the storage has it. */
  nextUpload(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #connected(client: Socket): void {
    if (this.#isAway) return void client.destroy()
    const storage = connect(Number(this.target.port), this.target.hostname)
    this.#passOn(client, storage, (bytes) => this.#noteUpload(bytes))
    this.#passOn(storage, client, () => undefined)
  }

  #passOn(from: Socket, to: Socket, note: (bytes: Buffer) => void): void {
    this.#open.add(from)
    from.setNoDelay(true)
    from.on('data', (bytes: Buffer) => {
      note(bytes)
      if (this.roundTripMs === 0) to.write(bytes)
      else setTimeout(() => void to.write(bytes), this.roundTripMs / 2)
    })
    if (this.#isHeld) from.pause()
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#open.delete(from)
      // What is in transit arrives first.
      setTimeout(() => to.destroy(), this.roundTripMs / 2)
    })
  }

  #noteUpload(bytes: Buffer): void {
    if (!bytes.subarray(0, PUT.length).equals(PUT)) return
    this.uploads++
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.goAway()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

const PUT = Buffer.from('PUT ')
