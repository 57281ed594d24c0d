/** A webhook like the gateway's, which records the events that it receives. */
export interface Webhook extends AsyncDisposable {
  url: string
  requests: { headers: Headers; body: string }[]
  events(): Event[]
  /** Answers all further requests, including handshakes. */
  answer: (request: Request) => Response | Promise<Response>
}

export interface Event {
  uuid: string
  event: string
  timestamp: string
  subscriptionId: string
  ownerId: string
  body: Record<string, unknown>
}

export function echo(request: Request): Response {
  const token = request.headers.get('validation-token')
  const headers = { 'content-type': 'application/json', ...(token === null ? {} : { 'validation-token': token }) }
  return new Response('', { headers })
}

export function startWebhook(): Webhook {
  const webhook: Webhook = {
    url: '',
    requests: [],
    events: () => webhook.requests.filter((one) => one.body !== '').map((one) => JSON.parse(one.body) as Event),
    answer: echo,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      webhook.requests.push({ headers: request.headers, body: await request.text() })
      return webhook.answer(request)
    },
  })
  webhook.url = `http://127.0.0.1:${server.port}/hook`
  return webhook
}
