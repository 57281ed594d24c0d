import { errorName } from '../core/log.ts'
import type { ExtensionKey } from '../provider/extension-rows.ts'
import type { TrackingContext } from './context.ts'
import { firstSentAfter, trackedExtensions } from './delivery-rows.ts'
import { openStates } from './open-states.ts'
import { PollPlan, TRACKED_MS } from './poll-plan.ts'
import { MAX_POLLED, endTracking, poll } from './poll.ts'

/** Few, so that a provider that hangs does not use up the calls that sends and lookups need. */
const MAX_POLLS_IN_FLIGHT = 8
/** Polls make at most 20 of the 50 light calls a minute that the provider allows. Lookups of unknown sends need the rest. */
const MS_PER_CALL = 3000
const RETRY_AFTER_FAULT_MS = 10_000
/** Long enough that messages of a burst share a commit, short enough that a poll does not find many states to open. */
const OPEN_AFTER_MS = 1000

/** An extension with messages that are tracked. */
interface Tracked {
  key: ExtensionKey
  plan: PollPlan
  /** Steady time of the next poll; Infinity while none is planned. */
  nextAt: number
  cancel: () => void
  /** Steady time before which no poll begins. */
  restUntil: number
  maxPolled: number
}

/**
 * Finds out what became of messages after `sent`: polls the provider's message store for each extension with open delivery
 * states, by timers. The open rows are the durable work, so a crash loses nothing and no jobs are needed.
 */
export class DeliveryTracking {
  readonly #tracked = new Map<string, Tracked>()
  /** Extensions whose poll is due, in turn. */
  readonly #due = new Set<Tracked>()
  readonly #running = new Set<Promise<void>>()
  #isStopped = true
  #opening: Promise<void> | null = null
  /** Cancels the timer that opens the states of messages sent lately; null if there is none. */
  #cancelOpening: (() => void) | null = null

  constructor(readonly context: TrackingContext) {}

  /** Whether messages that are sent now are tracked. */
  get isOn(): boolean {
    return this.context.config.deliveryTracking
  }

  /** Whether the provider may still tell about a message that became `sent` at `sentAt`, epoch milliseconds. */
  isPending(sentAt: number): boolean {
    return this.isOn && this.context.clock.now() - sentAt < TRACKED_MS
  }

  /** Opens the states of messages that were sent since the last call. Calls made meanwhile share the run. */
  openStates(): Promise<void> {
    if (!this.isOn) return Promise.resolve()
    this.#opening ??= openStates(this.context).finally(() => (this.#opening = null))
    return this.#opening
  }

  /** Finds extensions with open messages that are not polled. Call it at the start, and regularly, because a fault may leave some. */
  async findOpen(): Promise<void> {
    if (!this.isOn) return
    this.#isStopped = false
    await this.openStates()
    for (const key of await trackedExtensions(this.context.database.gate))
      if (!this.#tracked.has(nameOf(key))) this.#enqueue(this.#track(key))
  }

  /** How many polls are under way. */
  get inFlight(): number {
    return this.#running.size
  }

  /** Call it when a message of this extension was committed as sent. `sentAt` is steady time. */
  sent(key: ExtensionKey, sentAt: number): void {
    if (!this.isOn) return
    this.#cancelOpening ??= this.context.clock.after(OPEN_AFTER_MS, () => this.#openSoon())
    const tracked = this.#tracked.get(nameOf(key)) ?? this.#track(key)
    this.#planAt(tracked, Math.min(tracked.nextAt, tracked.plan.firstPollAt(sentAt)))
  }

  /** Begins no more polls. Resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelOpening?.()
    for (const { cancel } of this.#tracked.values()) cancel()
    this.#due.clear()
    await Promise.allSettled([...this.#running, this.#opening])
  }

  /** Opens states a little at a time, because thousands that a poll had to open would hold up everything else. */
  #openSoon(): void {
    this.#cancelOpening = null
    if (this.#isStopped) return
    this.openStates().catch((error: unknown) => {
      this.context.log.error({ error: errorName(error) }, 'delivery states cannot be opened, the next poll tries again')
    })
  }

  #track(key: ExtensionKey): Tracked {
    const tracked: Tracked = {
      key,
      plan: new PollPlan(),
      nextAt: Infinity,
      cancel: () => undefined,
      restUntil: 0,
      maxPolled: MAX_POLLED,
    }
    this.#tracked.set(nameOf(key), tracked)
    return tracked
  }

  #planAt(tracked: Tracked, at: number): void {
    const nextAt = Math.max(at, tracked.restUntil)
    if (nextAt === tracked.nextAt || nextAt === Infinity) return
    tracked.nextAt = nextAt
    tracked.cancel()
    const delayMs = Math.max(0, Math.ceil(nextAt - this.context.clock.steady()))
    tracked.cancel = this.context.clock.after(delayMs, () => this.#enqueue(tracked))
  }

  #enqueue(tracked: Tracked): void {
    if (this.#isStopped) return
    this.#due.add(tracked)
    this.#begin()
  }

  #begin(): void {
    for (const tracked of this.#due) {
      if (this.#running.size >= MAX_POLLS_IN_FLIGHT || this.#isStopped) return
      this.#due.delete(tracked)
      const run = this.#run(tracked).finally(() => {
        this.#running.delete(run)
        this.#begin()
      })
      this.#running.add(run)
    }
  }

  /** Runs a poll and then plans the next one. A message that is sent meanwhile can only make the next one earlier. */
  async #run(tracked: Tracked): Promise<void> {
    tracked.nextAt = Infinity
    try {
      await this.#poll(tracked)
      const at = await this.#nextAt(tracked)
      if (at === null && tracked.nextAt === Infinity) this.#tracked.delete(nameOf(tracked.key))
      else if (at !== null) this.#planAt(tracked, Math.min(at, tracked.nextAt))
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'delivery states cannot be polled, trying again')
      this.#planAt(tracked, this.context.clock.steady() + RETRY_AFTER_FAULT_MS)
    }
  }

  async #poll(tracked: Tracked): Promise<void> {
    const { key, plan, maxPolled } = tracked
    await this.openStates()
    await this.#nextAt(tracked)
    const due = plan.due(this.context.clock.steady())
    if (due === null) return
    const { until, calls, ...next } = await poll(this.context, key, due.since, maxPolled)
    tracked.maxPolled = next.maxPolled
    tracked.restUntil = this.context.clock.steady() + calls * MS_PER_CALL
    plan.done(due, until)
    await endTracking(this.context, key)
  }

  async #nextAt({ key, plan }: Tracked): Promise<number | null> {
    plan.learn(await firstSentAfter(this.context.database.gate, key, plan.doneUntil))
    return plan.nextAt()
  }
}

const nameOf = ({ tenantId, extensionId }: ExtensionKey): string => `${tenantId} ${extensionId}`
