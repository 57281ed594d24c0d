import { postOnce } from '../../src/net/outbound/webhook-exchange.ts'
import { type EventStore, noStore, openEventStore } from './event-store.ts'

// The simplest server for inbound events. It parses an event, stores it if a file is given, publishes the frame to every
// WebSocket, POSTs it to every destination, and answers 200. Arguments: the client for POSTs (`fetch` or `sgw`), the
// database file (empty for no storage), the destinations' addresses. `POST /publish/10` publishes the event ten times in
// one turn, to find the limit of `server.publish` alone.

/** The gateway makes as many parallel POSTs to one destination, each on a connection of its own. */
const POSTS_PER_DESTINATION = 4
const TOPIC = 'events'
const BACKLOG_BYTES = 1 << 20

class Destination {
  readonly #waiting: Post[] = []
  #underWay = 0

  constructor(readonly url: URL) {}

  add(post: Post): void {
    this.#waiting.push(post)
    this.#next()
  }

  #next(): void {
    if (this.#underWay >= POSTS_PER_DESTINATION) return
    const post = this.#waiting.shift()
    if (post === undefined) return
    this.#underWay++
    void this.#make(post).finally(() => {
      this.#underWay--
      this.#next()
    })
  }

  async #make({ body, job }: Post): Promise<void> {
    await (client === 'fetch' ? postByFetch(this.url, body) : postAsTheGateway(this.url, body))
    await store.ended(job)
  }
}

interface Post {
  body: string
  job: number
}

async function postByFetch(url: URL, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await (await fetch(url, { method: 'POST', headers, body, keepalive: false })).arrayBuffer()
}

/** Uses the gateway's HTTP client without its checks. */
async function postAsTheGateway(url: URL, body: string): Promise<void> {
  const dialable = { address: url.hostname, family: 4 } as const
  const headers = { 'content-type': 'application/json' }
  const answer = await postOnce({ url, dialable, body, headers }, new AbortController().signal)
  if (!answer.ok) return
  await answer.snippet.done
  answer.close()
}

const [client, path = '', ...urls] = process.argv.slice(2)
const store: EventStore = path === '' ? noStore : openEventStore(path)
const destinations = urls.map((url) => new Destination(new URL(url)))

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(incoming, self) {
    if (incoming.method === 'GET') return self.upgrade(incoming) ? undefined : new Response(null, { status: 426 })
    const event = (await incoming.json()) as ProviderEvent
    const frame = frameOf(event)
    const jobs = await store.stored(event.body.id, frame, destinations.length)
    if (jobs === null) return new Response(null)
    const times = /\/publish\/(\d+)$/.exec(incoming.url)?.[1] ?? '1'
    for (let time = 0; time < Number(times); time++) self.publish(TOPIC, frame)
    destinations.forEach((destination, index) => destination.add({ body: frame, job: jobs[index] ?? 0 }))
    return new Response(null)
  },
  websocket: {
    backpressureLimit: BACKLOG_BYTES,
    closeOnBackpressureLimit: true,
    message: (socket) => {
      socket.subscribe(TOPIC)
      socket.send('{"type":"auth_ok"}')
    },
  },
})

interface ProviderEvent {
  body: { id: string; from: { phoneNumber: string }; to: { phoneNumber: string }[]; subject: string }
}

/** A frame as long as the gateway's. */
const frameOf = ({ body }: ProviderEvent): string =>
  JSON.stringify({
    type: 'sms_inbound',
    messageId: 'msg_000000000000',
    from: body.from.phoneNumber,
    to: body.to[0]?.phoneNumber,
    body: body.subject,
    rcMessageId: body.id,
    tenantId: 'ten_0000000000000000',
    timestamp: new Date().toISOString(),
    receivingExtensionId: '629890016',
  })

process.send?.(server.port)

// Ends this process if the bench exits early.
process.on('disconnect', () => process.exit())
