import { EventSocket, isEvent } from './event-socket.ts'
import type { EventPage, GapEvent, GatewayEvent } from './event-types.ts'
import { backoffMs, pause } from './pause.ts'
import type { Requester, WebSocketClass } from './requester.ts'
import { SgwError } from './sgw-error.ts'

export interface EventsOptions {
  /** A cursor that you kept, or one from `eventCursor()`: events after it come first. Without it, events start at the connection. */
  after?: string | undefined
  /** Ends the loop. */
  signal?: AbortSignal | undefined
  /** Called when the connection is made, and when it is lost, with the reason. */
  onState?: ((state: ConnectionState, error?: unknown) => void) | undefined
}

export interface ConnectionState {
  online: boolean
  /** When it connects again; null while online and after the end. */
  retryAt: Date | null
}

const PAGE_SIZE = 1000
const MAX_REMEMBERED = 10_000

/**
 * The events of the app and its tenant, in order, each once, for `for await`. It reconnects automatically and continues where it stopped; `{
 * type: 'gap' }` says that events may be missing, as after each loss of a connection by `token`. Ends with its signal or `break`. Throws an
 * `SgwError` with status 401 or 403 if the key is not accepted, and with 3xx if `baseUrl` redirects.
 */
export class EventStream implements AsyncIterable<GatewayEvent | GapEvent> {
  #cursor: string | undefined
  /** Time since the last read. */
  #failures = 0
  /** Identities of the latest events, because a cursor may be older than they are. */
  readonly #seen = new Set<string>()
  readonly #requester: Requester
  readonly #socketClass: WebSocketClass
  readonly #options: EventsOptions

  constructor(requester: Requester, socketClass: WebSocketClass, options: EventsOptions) {
    this.#requester = requester
    this.#socketClass = socketClass
    this.#options = options
    // A crash can leave an empty file where a cursor was stored. The gateway would take '' for no cursor; '-' it cannot read, which is a gap.
    this.#cursor = options.after === '' ? '-' : options.after
  }

  /**
   * The `after` with which another `events()` continues; undefined before the first. It never moves past an event that your loop has not
   * received. Events of the last second may come again.
   */
  get cursor(): string | undefined {
    return this.#cursor
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<GatewayEvent | GapEvent, void> {
    const { signal } = this.#options
    let socket: EventSocket | undefined
    const end = () => socket?.end()
    signal?.addEventListener('abort', end)
    try {
      for (; !this.#isAborted; this.#failures++) {
        try {
          socket = await this.#open()
          await socket.opened()
          yield* this.#catchUp(socket)
          this.#failures = 0
          this.#tell(null, true)
          yield* this.#live(socket)
        } catch (error) {
          end()
          await this.#pause(error)
        }
      }
    } finally {
      signal?.removeEventListener('abort', end)
      end()
    }
  }

  async #open(): Promise<EventSocket> {
    const { baseUrl, timeoutMs } = this.#requester
    return new EventSocket(this.#socketClass, `${baseUrl.replace(/^http/, 'ws')}/ws`, await this.#token(), timeoutMs)
  }

  async #token(): Promise<string> {
    const token = this.#requester.options.token
    if (typeof token !== 'function') return token ?? (await this.#request<{ token: string }>('POST', '/ws/token')).token
    try {
      return await token()
    } catch (cause) {
      // The function's source may be unreachable for a while, like the gateway.
      throw cause instanceof SgwError ? cause : new SgwError(String(cause), 0, null, null, { cause })
    }
  }

  /** Yields what the log has after the cursor. The socket is open already, so that nothing is missed after the last page. */
  async *#catchUp(socket: EventSocket): AsyncGenerator<GatewayEvent | GapEvent, void> {
    // A stream that starts now has nothing to catch up on: the first cursor is the first frame that `#live` reads.
    if (this.#cursor === undefined) return void (await socket.firstCursor())
    // Reading the log needs a key.
    if (this.#requester.options.token !== undefined) return void (yield { type: 'gap' })
    for (;;) {
      // The log has every event that came before this request.
      socket.clear()
      const page = await this.#readPage(socket)
      if (page?.gap !== false) yield { type: 'gap' }
      if (page === null) continue
      this.#failures = 0
      const { events, cursor } = page
      for (const [index, event] of events.entries()) {
        if (index === events.length - 1) this.#cursor = cursor
        if (this.#isNew(event)) yield event
        if (this.#isAborted) return
      }
      this.#cursor = cursor
      if (events.length === 0) return
    }
  }

  /** Null if the gateway does not know the cursor, for example after its keys were replaced. Then the socket's events follow. */
  async #readPage(socket: EventSocket): Promise<EventPage | null> {
    const after = this.#cursor
    try {
      return await this.#request('GET', '/events', { after, limit: PAGE_SIZE })
    } catch (error) {
      const first = error instanceof SgwError && error.status === 400 ? await socket.firstCursor() : after
      if (first === after) throw error
      this.#cursor = first
      return null
    }
  }

  async *#live(socket: EventSocket): AsyncGenerator<GatewayEvent, void> {
    while (!this.#isAborted) {
      const frame = await socket.next()
      if (frame.type === 'cursor') this.#cursor = frame.cursor
      else if (this.#isNew(frame)) yield frame
    }
  }

  #request<T>(method: string, path: string, query: object = {}): Promise<T> {
    return this.#requester.request(method, `/v1${path}`, { query, maxRetries: 0, signal: this.#options.signal })
  }

  #isNew(event: GatewayEvent): boolean {
    if (!isEvent(event)) return false
    const identity = identityOf(event)
    if (this.#seen.has(identity)) return false
    this.#seen.add(identity)
    if (this.#seen.size > MAX_REMEMBERED) this.#seen.delete(this.#seen.values().next().value ?? '')
    return true
  }

  async #pause(problem: unknown): Promise<void> {
    if (this.#isAborted) return this.#tell(null)
    const { status, retryAfterSeconds } = problem instanceof SgwError ? problem : { status: null, retryAfterSeconds: 0 }
    const isLast = typeof this.#requester.options.token === 'string'
    if (isLast || status === null || /^(3..|401|403)$/.test(String(status))) {
      this.#tell(null, false, problem)
      throw problem
    }
    const waitMs = Math.max(backoffMs(this.#failures), (retryAfterSeconds ?? 0) * 1000)
    this.#tell(new Date(Date.now() + waitMs), false, problem)
    await pause(waitMs, this.#options.signal)
  }

  #tell(retryAt: Date | null, online = false, error?: unknown): void {
    this.#options.onState?.({ online, retryAt }, error)
  }

  get #isAborted(): boolean {
    return this.#options.signal?.aborted === true
  }
}

/** The same for every copy of an event. */
function identityOf(event: GatewayEvent): string {
  const fields: Partial<Record<string, unknown>> = { ...event }
  const { type, messageId, number, contact, optedOut, status, deliveryStatus, timestamp } = fields
  return JSON.stringify([type, messageId ?? [number, contact, optedOut], status ?? deliveryStatus, timestamp])
}
