import { Sgw } from '../../src/client/client.ts'
import { answer } from './answers.ts'

type Answer = Response | (() => Promise<Response>)
type Listener = (event: { type: string; data?: unknown }) => void

/** An inbound event with a number for its id. */
export const inbound = (id: number): object => ({
  type: 'sms_inbound',
  messageId: `msg_${id}`,
  from: '+15555550199',
  to: '+15555550100',
  body: 'Hello',
  rcMessageId: String(id),
  tenantId: 'tenant_1',
  timestamp: '2026-11-24T00:00:00.000Z',
})

/** The gateway as `events()` sees it, with sockets and answers that a test controls. Without more answers all goes well. */
export class ScriptedGateway {
  /** The next answers to requests for a token. */
  readonly answers: Answer[] = []
  /** The next pages of events. Each must be asked for by its `after`. */
  readonly pages: { after: string; events: object[]; cursor: string; gap?: boolean }[] = []
  readonly sockets: ScriptedSocket[] = []
  readonly calls: string[] = []

  client(options: { timeoutMs?: number } = {}): Sgw {
    const { sockets } = this
    class Socket extends ScriptedSocket {
      constructor(url: string) {
        super(url)
        sockets.push(this)
      }
    }
    return new Sgw({
      baseUrl: 'https://sms.test/gateway/',
      apiKey: 'sgw_key',
      WebSocket: Socket,
      fetch: (url) => this.#answer(url),
      ...options,
    })
  }

  /** The newest socket. */
  get socket(): ScriptedSocket {
    const socket = this.sockets.at(-1)
    if (socket === undefined) throw new Error('There is no socket')
    return socket
  }

  /** Waits for the first connection and completes it. */
  async connected(cursor: string): Promise<void> {
    while (this.sockets.length === 0) await turn()
    this.socket.open()
    this.socket.receive({ type: 'cursor', cursor })
    for (let turns = 0; turns < 10; turns++) await turn()
  }

  #answer(address: string): Promise<Response> {
    const url = new URL(address)
    this.calls.push(url.pathname)
    if (!url.pathname.endsWith('/v1/events')) {
      const next = this.answers.shift() ?? answer(200, { token: 'wst_1' })
      return typeof next === 'function' ? next() : Promise.resolve(next)
    }
    const after = url.searchParams.get('after') ?? ''
    const page = this.pages.shift() ?? { after, events: [], cursor: after }
    if (page.after !== after) throw new Error(`Events were read after ${after} instead of ${page.after}`)
    return Promise.resolve(answer(200, { gap: false, ...page }))
  }
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

class ScriptedSocket {
  isClosed = false
  readonly #listeners: [string, Listener][] = []

  constructor(readonly url: string) {}

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.push([type, listener])
  }

  /** The token must be sent first. */
  send(text: string): void {
    if (text !== '{"type":"auth","token":"wst_1"}') throw new Error(`The socket was sent ${text}`)
    this.receive({ type: 'auth_ok' })
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#emit('close')
  }

  open(): void {
    this.#emit('open')
  }

  receive(frame: object): void {
    this.receiveRaw(JSON.stringify(frame))
  }

  receiveRaw(data: unknown): void {
    this.#emit('message', data)
  }

  #emit(type: string, data?: unknown): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener({ type, data })
  }
}
