import { type Server, type Socket, connect, createServer } from 'node:net'

const CHECK_EVERY_MS = 100
const CHECK_LIMIT_MS = 1000

/** A TCP proxy on 127.0.0.1 in front of several gateways. New connections go to the one that is ready, as with Caddy's health checks. */
export class FailoverProxy implements AsyncDisposable {
  #active: URL | null = null
  #isOpen = true
  readonly #sockets = new Set<Socket>()

  private constructor(
    readonly server: Server,
    readonly url: string,
  ) {}

  /** `port`: any free one if it is 0. Rejects with the error of the system if it cannot listen there. */
  static async start(port = 0): Promise<FailoverProxy> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    const address = server.address()
    const proxy = new FailoverProxy(server, `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`)
    server.on('connection', (client) => proxy.#connected(client))
    return proxy
  }

  /** Checks these gateways from now on. Their addresses have no path. */
  watch(gateways: readonly string[]): void {
    for (const gateway of gateways) void this.#check(new URL(gateway))
  }

  async #check(gateway: URL): Promise<void> {
    while (this.#isOpen) {
      const isReady = await fetch(`${gateway.origin}/ready`, {
        keepalive: false,
        signal: AbortSignal.timeout(CHECK_LIMIT_MS),
      }).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isReady) this.#active = gateway
      else if (this.#active === gateway) this.#active = null
      await Bun.sleep(CHECK_EVERY_MS)
    }
  }

  /** Without a gateway, a client is cut off, and tries again. Open connections stay with their gateway, whatever its state. */
  #connected(client: Socket): void {
    if (this.#active === null) return void client.destroy()
    const gateway = connect(Number(this.#active.port), this.#active.hostname)
    this.#passOn(client, gateway)
    this.#passOn(gateway, client)
  }

  #passOn(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    from.setNoDelay(true)
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
