/** An application's webhook that counts the POSTs of each delivery. */
export class RecordingReceiver implements AsyncDisposable {
  /** POSTs by delivery id. */
  readonly posts = new Map<string, number>()
  readonly #server: Bun.Server<undefined>

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        const id = request.headers.get('webhook-id') ?? 'none'
        this.posts.set(id, (this.posts.get(id) ?? 0) + 1)
        await request.text()
        await Bun.sleep(ANSWER_MS)
        return new Response(null)
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}

/** Long enough that kills hit open POSTs. */
const ANSWER_MS = 20
