/**
 * A provider that accepts every message after a delay, counts it and stores nothing. The simulator checks tokens, stores
 * records and announces them, so its cost would dominate a measurement. Every contestant calls this provider and gets the
 * same answer, by RingCentral's `POST …/sms` or, without support for RingCentral, by `GET /send`. All other calls (login,
 * numbers of each extension, subscriptions) are forwarded to a simulator.
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
      fetch: (request) => this.#forward(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }

  #accept(): Response | Promise<Response> {
    const body = recordOf(FIRST_ID + this.calls++)
    this.onCall()
    const answer = (): Response => new Response(body, { headers: HEADERS })
    return this.delayMs === 0 ? answer() : Bun.sleep(this.delayMs).then(answer)
  }

  async #forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const init = { method: request.method, headers: request.headers, redirect: 'manual' } as const
    const body = request.method === 'GET' ? {} : { body: await request.arrayBuffer() }
    const answer = await fetch(`${this.simulatorUrl}${pathname}${search}`, { ...init, ...body })
    return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers })
  }
}

export const SMS_PATH = '/restapi/v1.0/account/~/extension/~/sms'
const FIRST_ID = 3_062_991_000_000

/** The headers of RingCentral's answers. The limit is above the raised limits of the measured gateway. */
const HEADERS = {
  Server: 'nginx',
  RCRequestId: 'bedff5ae-9d68-4bc9-8653-7e34603ef562-2686696-1-19',
  RoutingKey: 'SJC01P07',
  'Content-Language': 'en-US',
  'Content-Type': 'application/json;charset=utf-8',
  'X-Rate-Limit-Group': 'medium',
  'X-Rate-Limit-Limit': '1000000000',
  'X-Rate-Limit-Remaining': '999999999',
  'X-Rate-Limit-Window': '60',
}

const STORE = 'https://platform.ringcentral.com/restapi/v1.0/account/809640016/extension/629890016/message-store'
const CONVERSATION = '1638233798595111162'
const NOW = '2026-11-21T02:30:00.000Z'

/**
 * RingCentral's answer to `POST …/sms` (API reference, "Create SMS message"). Clients read only the id and the status, so
 * all other fields are constant and the provider need not parse the call.
 */
const recordOf = (id: number): string => `{"uri":"${STORE}/${id}","id":${id},${REST}`

const REST = JSON.stringify({
  to: [{ phoneNumber: '+16505550123', location: 'Mountain View, CA' }],
  from: { phoneNumber: '+16505550101', location: 'Mountain View, CA' },
  type: 'SMS',
  creationTime: NOW,
  readStatus: 'Read',
  priority: 'Normal',
  attachments: [{ id: FIRST_ID, uri: `${STORE}/1/content/1`, type: 'Text', contentType: 'text/plain' }],
  direction: 'Outbound',
  availability: 'Alive',
  subject: 'Hello',
  messageStatus: 'Queued',
  smsSendingAttemptsCount: 1,
  conversationId: 'CONVERSATION',
  conversation: { id: CONVERSATION, uri: `https://platform.ringcentral.com/restapi/v1.0/conversation/${CONVERSATION}` },
  lastModifiedTime: NOW,
})
  .slice(1)
  // On the wire, the id is a number that a double cannot represent.
  .replace('"CONVERSATION"', CONVERSATION)
