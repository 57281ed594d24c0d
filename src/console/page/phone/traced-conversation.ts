import { computed, effect, signal } from '@preact/signals'
import type { DeliveryAttempt, Message, Timeline } from '../../../client/client.ts'
import { messageIdOf } from '../messages/row.ts'
import { onEvent } from '../state/live.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { session } from '../state/session.ts'
import type { MediaIds } from '../thread/composer.tsx'
import { MessagesOfPair, READ_AFTER_MS } from '../thread/messages-of-pair.ts'
import type { SimulatorCall, SimulatorFault } from './simulator.ts'
import type { StepDetail } from './step-detail.ts'

/** A send that this page made: when, how long the gateway took to answer, and what both sent. */
export interface OwnSend {
  at: number
  ms: number
  request: { to: string; from: string; body: string; mediaIds?: readonly string[] }
  response: unknown
}

/** An event as this page's socket received it. */
export interface HeardEvent {
  at: number
  event: LiveEvent
}

/** What the page itself measured stays until it is reloaded or signed out, whichever view and contact are shown. */
const sends = signal<ReadonlyMap<string, OwnSend>>(new Map())
const heard = signal<readonly HeardEvent[]>([])

/** This many of the newest events are kept, and all of the page's own sends. */
const KEPT_EVENTS = 1000

/** Records each event of the socket, even while another view is shown. */
export function followHeard(): void {
  onEvent((event) => {
    const all = [...heard.value, { at: Date.now(), event }]
    heard.value =
      all.length > KEPT_EVENTS ? all.filter((each, index) => index >= all.length - KEPT_EVENTS || isOwn(each)) : all
  })
  effect(() => {
    if (session.value !== null) return
    sends.value = new Map()
    heard.value = []
  })
}

const isOwn = ({ event }: HeardEvent): boolean => sends.peek().has(messageIdOf(event) ?? '')

const SIMULATOR = '/v1/operator/simulator'

/** Every step is drawn for the last message, and for those that came since the page was loaded, up to this many. */
const TRACED_MESSAGES = 4
const SHOWN_WEBHOOKS = 5
/** A traced message makes about five calls; with retries, up to ten. */
const MOST_CALLS = 10 * TRACED_MESSAGES
/** Each earlier message costs a request, and a first load may make only a few. */
const TRACED_SINCE = performance.timeOrigin
/** The simulator recorded a contact's text before the gateway stored it. */
const CALLS_BEFORE_MS = 2000
/** Reads that were not caused by a click on this page make at most this many requests a minute. */
const REQUESTS_PER_MINUTE = 18
const MINUTE_MS = 60_000
const CLICK_COUNTS_MS = 10_000
/** For one read: messages, fault, calls, and a timeline or the webhooks of each traced message. */
const MOST_REQUESTS = 3 + TRACED_MESSAGES

/** The messages between one of the tenant's numbers and one contact, and for the newest ones, every step between app and phone. */
export class TracedConversation extends MessagesOfPair {
  /** For outbound messages. */
  readonly timelines = signal<ReadonlyMap<string, Timeline>>(new Map())
  /** For inbound messages: each POST to the app, oldest first. */
  readonly webhooks = signal<ReadonlyMap<string, readonly DeliveryAttempt[]>>(new Map())
  readonly calls = signal<readonly SimulatorCall[]>([])
  readonly fault = signal<SimulatorFault>(null)
  /** The step whose request and response are shown. Its time may be corrected while it is chosen. */
  readonly chosen = signal<{ id: string; detail: StepDetail } | null>(null)
  /** What this page itself measured, for all conversations. The file of the steps has no state of its own. */
  readonly sends = sends
  readonly heard = heard
  readonly traced = computed(() => {
    const newest = this.messages.value.slice(-TRACED_MESSAGES)
    return newest.filter(({ createdAt }, index) => index === newest.length - 1 || Date.parse(createdAt) >= TRACED_SINCE)
  })
  /** The times of requests that no click caused. */
  #unasked: readonly number[] = []
  #clickedAt = -Infinity

  /** Reads messages, and the steps of the traced ones. */
  protected override async read(): Promise<void> {
    this.#count(2)
    const readNext = () => this.sgw.request<{ fault: SimulatorFault }>('GET', `${SIMULATOR}/next`)
    // At the first read, nobody can have chosen a fault yet.
    const next = this.isLoaded.value ? readNext() : { fault: null }
    await super.read()
    this.fault.value = (await next).fault
    await this.#readSteps()
  }

  async #readSteps(): Promise<void> {
    const [first] = this.traced.value
    if (first === undefined) return
    const since = new Date(Date.parse(first.createdAt) - CALLS_BEFORE_MS).toISOString()
    const changed = this.traced.value.filter(({ messageId }) => !isOver(this.timelines.value.get(messageId)))
    this.#count(1 + changed.length)
    const [{ calls }, timelines, webhooks] = await Promise.all([
      this.sgw.request<{ calls: SimulatorCall[] }>('GET', `${SIMULATOR}/calls`, {
        query: { since, limit: MOST_CALLS },
      }),
      Promise.all(idsOf(changed, 'outbound').map(async (id) => [id, await this.sgw.sms.timeline(id)] as const)),
      Promise.all(idsOf(changed, 'inbound').map(async (id) => [id, await this.#webhooksOf(id)] as const)),
    ])
    this.calls.value = calls
    this.timelines.value = new Map([...this.timelines.value, ...timelines])
    this.webhooks.value = new Map([...this.webhooks.value, ...webhooks])
  }

  async #webhooksOf(messageId: string): Promise<readonly DeliveryAttempt[]> {
    const { attempts } = await this.sgw.deliveries.list({ messageId, limit: SHOWN_WEBHOOKS }).page(1)
    return attempts.toReversed()
  }

  async send(body: string, mediaIds: MediaIds): Promise<void> {
    this.#clickedAt = Date.now()
    const request = { to: this.contact, from: this.number, body, ...(mediaIds && { mediaIds }) }
    await this.attempt(async () => {
      const at = Date.now()
      const began = performance.now()
      const response = await this.sgw.sms.send(request)
      const send = { at, ms: performance.now() - began, request, response }
      sends.value = new Map([...sends.value, [response.messageId, send]])
      void this.load()
    })
  }

  async reply(text: string): Promise<void> {
    this.#clickedAt = Date.now()
    await this.attempt(async () => {
      const body = { from: this.contact, to: this.number, text }
      await this.sgw.request('POST', `${SIMULATOR}/inbound`, { body })
      this.#plan()
    })
  }

  async setFault(fault: SimulatorFault): Promise<void> {
    await this.attempt(async () => {
      await this.sgw.request('PUT', `${SIMULATOR}/next`, { body: { fault } })
      this.fault.value = fault
    })
  }

  /** Takes an event: changes a known message immediately, and reads everything again soon. */
  override note(event: LiveEvent): void {
    if (!this.#concerns(event)) return
    this.take(event)
    this.#plan()
  }

  /** An outbound event names no numbers, and can arrive before the answer that makes its message known. */
  #concerns(event: LiveEvent): boolean {
    if (event.type === 'sms_inbound') return this.isOf({ number: event.to, contact: event.from })
    return event.type !== 'opt_out' || this.isOf(event)
  }

  #plan(): void {
    this.plan(Math.max(READ_AFTER_MS, this.#restMs()))
  }

  /** How long to wait until a minute has room for another read. */
  #restMs(): number {
    if (this.#isClicked()) return 0
    const first = this.#unasked.at(-(REQUESTS_PER_MINUTE - MOST_REQUESTS))
    return first === undefined ? 0 : first + MINUTE_MS - Date.now()
  }

  #isClicked(): boolean {
    return Date.now() - this.#clickedAt < CLICK_COUNTS_MS
  }

  #count(requests: number): void {
    if (this.#isClicked()) return
    const now = Date.now()
    const recent = this.#unasked.filter((at) => at > now - MINUTE_MS)
    this.#unasked = [...recent, ...Array.from({ length: requests }, () => now)]
  }
}

const idsOf = (messages: readonly Message[], direction: Message['direction']): string[] =>
  messages.filter((message) => message.direction === direction).map(({ messageId }) => messageId)

/** Whether nothing more can happen to a message. */
const isOver = (timeline: Timeline | undefined): boolean =>
  timeline !== undefined &&
  (timeline.status === 'failed' || timeline.deliveryStatus === 'delivered' || timeline.deliveryStatus === 'undelivered')
