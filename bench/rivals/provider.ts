/**
 * A provider that says yes to every message after a while, counts, and keeps nothing: leaner than the simulator, which
 * checks tokens, stores records and announces them, and would be what is measured. Every contestant calls this one:
 * RingCentral's `POST …/sms` for sgw, `/send` (POST, or GET as Kannel does) for the others. Anything else of
 * RingCentral (login, numbers, subscriptions) is handed on to a simulator.
 */
export class LeanProvider implements AsyncDisposable {
  calls = 0
  simulatorUrl = ''
  readonly #server: Bun.Server<undefined>

  constructor(
    readonly delayMs: number,
    readonly onCall: () => void = () => {},
  ) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      routes: { [SMS_PATH]: () => this.#accept(), '/send': () => this.#accept() },
      fetch: (request) => this.#handOn(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }

  #accept(): Response | Promise<Response> {
    const id = FIRST_ID + this.calls++
    this.onCall()
    // The form of the simulator's answer, as far as it is read.
    const answer = (): Response => Response.json({ id, messageStatus: 'Queued' })
    return this.delayMs === 0 ? answer() : Bun.sleep(this.delayMs).then(answer)
  }

  async #handOn(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const init = { method: request.method, headers: request.headers, redirect: 'manual' } as const
    const body = request.method === 'GET' ? {} : { body: await request.arrayBuffer() }
    const answer = await fetch(`${this.simulatorUrl}${pathname}${search}`, { ...init, ...body })
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers })
  }
}

const SMS_PATH = '/restapi/v1.0/account/~/extension/~/sms'
const FIRST_ID = 1_000_000_000
