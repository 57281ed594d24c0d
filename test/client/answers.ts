import { Sgw, SgwError } from '../../src/client/client.ts'

export interface RecordedRequest {
  method: string
  /** With the query. */
  path: string
  headers: Headers
  body: string
}

type Answer = Response | (() => Response | Promise<Response>)

/** A server that gives these answers one after the other, the last one again and again. */
export class AnsweringServer implements Disposable {
  readonly requests: RecordedRequest[] = []
  readonly #server: Bun.Server<undefined>

  constructor(...answers: Answer[]) {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const { method, headers } = request
        this.requests.push({ method, path: pathname + search, headers, body: await request.text() })
        const answer = answers[Math.min(this.requests.length, answers.length) - 1]
        return typeof answer === 'function' ? answer() : (answer?.clone() as Response)
      },
    })
  }

  get url(): string {
    return this.#server.url.href
  }

  client(options: Partial<ConstructorParameters<typeof Sgw>[0]> = {}): Sgw {
    return new Sgw({ baseUrl: this.url, apiKey: 'sgw_key', ...options })
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}

export const answer = (status: number, body: unknown = {}, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers })

/** The error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<SgwError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SgwError)) throw new Error(`No SgwError, but ${String(error)}`)
  return error
}
