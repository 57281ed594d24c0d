import { Apps } from './apps.ts'
import { Connection } from './connection.ts'
import { Deliveries } from './deliveries.ts'
import { EventStream, type EventsOptions } from './event-stream.ts'
import { OptOuts, pairOf } from './opt-outs.ts'
import { pagesOf, type Pages } from './pages.ts'
import { type RequestOptions, Requester, type SgwOptions, type TokenOptions, type WebSocketClass } from './requester.ts'
import { Resource } from './resource.ts'
import type { Conversation, ConversationFilter, Me } from './resource-types.ts'
import type { Overview, UsageDay, UsageRange } from './usage-types.ts'
import { SgwError } from './sgw-error.ts'
import { Sms } from './sms.ts'
import { Triggers } from './triggers.ts'

/** A client of the gateway's API. Its methods throw an `SgwError` if the gateway refuses or does not answer. */
export class Sgw extends Resource {
  readonly sms: Sms
  readonly apps: Apps
  readonly triggers: Triggers
  readonly deliveries: Deliveries
  readonly connection: Connection
  readonly optOuts: OptOuts

  constructor(options: SgwOptions | TokenOptions) {
    const requester = new Requester(options)
    super(requester)
    this.sms = new Sms(requester)
    this.apps = new Apps(requester)
    this.triggers = new Triggers(requester)
    this.deliveries = new Deliveries(requester)
    this.connection = new Connection(requester)
    this.optOuts = new OptOuts(requester)
  }

  /** Who the key or token belongs to, and which gateway this is. */
  me(): Promise<Me> {
    return this.call('GET', '/me')
  }

  /**
   * The events of the app and its tenant, for `for await`: in order, each once, across all reconnections. Throws immediately if there is no
   * `WebSocket`. Without `after`, they begin some time after the loop: to send a message and wait for the answer, pass an `eventCursor()` that
   * you took before the send.
   */
  events(options: EventsOptions = {}): EventStream {
    const given = this.requester.options.WebSocket ?? (globalThis as { WebSocket?: WebSocketClass }).WebSocket
    if (given === undefined)
      throw new SgwError('No WebSocket here: pass one to new Sgw({ WebSocket }), such as that of the package ws')
    return new EventStream(this.requester, given, options)
  }

  /** A token for the `events()` of a page without a key: `new Sgw({ baseUrl, token })`. It opens one connection, within `expiresIn` seconds. */
  wsToken(): Promise<{ token: string; expiresIn: number }> {
    return this.call('POST', '/ws/token', undefined, { repeatable: true })
  }

  /**
   * The current cursor. `events({ after })` begins with it, however much later the loop begins.
   *
   * @example
   * const after = await sgw.eventCursor()
   * await sgw.sms.send({ from, to, body: 'Answer C to confirm.' })
   * for await (const event of sgw.events({ after }))
   *   if (event.type === 'sms_inbound' && event.from === to && event.body.trim() === 'C') break
   */
  eventCursor(): Promise<string> {
    return this.member('cursor', '/events')
  }

  /** The tenant's conversations, each with its newest message, by last activity. `toAnswer` of a page: how many wait for an answer, counted to 1,000. */
  conversations(filter: ConversationFilter = {}): Pages<'conversations', Conversation, { toAnswer: number }> {
    return pagesOf(this.requester, '/conversations', 'conversations', filter, { keyOf: pairOf })
  }

  /** Messages and segments of each app by UTC day, newest first; days without traffic are omitted. */
  usage(range?: UsageRange): Promise<UsageDay[]> {
    return this.member('days', '/usage', range)
  }

  /** The tenant's messages of the last hours at a glance: 24 (default) to 2160. */
  overview(hours?: number, include?: 'nextAttempt'): Promise<Overview> {
    return this.call('GET', '/overview', undefined, { query: { hours, include } })
  }

  /** Calls an endpoint that has no method here, such as `request<Status>('GET', '/v1/operator/status')`. */
  request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    return this.requester.request(method, path, options)
  }
}
