import { Limiter, type LimiterBounds, type Slot } from '../../core/limiter.ts'
import { errorName } from '../../core/log.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { ReceiptContext } from './context.ts'
import { firstSentAfter, trackedExtensions } from './state-rows.ts'
import { leaveUntracked, startTracking } from './start-tracking.ts'
import { type PollPace, PROVIDER_PACE, PollPlan, TEST_PACE, TRACKED_MS } from './poll-plan.ts'
import { MAX_POLLED, endTracking, poll } from './poll.ts'

/**
 * Few, so that a hanging provider does not use up the calls that sends and lookups need. A tenant may have half of them, so that its hanging
 * extensions leave polls for the others.
 */
const POLLS: LimiterBounds = { total: 8, perTenant: 4 }
/** One turn of an extension at a time: a poll and the pause after it. Its tenants share its calls. */
const TURNS: LimiterBounds = { total: Infinity, perTenant: Infinity }
const RETRY_AFTER_FAULT_MS = 10_000

/** An extension with tracked messages. */
interface Tracked {
  key: ExtensionKey
  plan: PollPlan
  /** Steady time of the next poll; Infinity while none is planned. */
  nextAt: number
  cancel: () => void
  /** Whether its poll is due and has not started. */
  isDue: boolean
  maxPolled: number
}

/**
 * Finds out what happened to messages after `sent`: polls the provider's message store for each extension with open delivery states, by
 * timers. The open rows are the durable work, so a crash loses nothing and no jobs are needed.
 */
export class ReceiptTracking {
  readonly #tracked = new Map<string, Tracked>()
  readonly #polls = new Limiter(POLLS)
  readonly #turns = new Limiter(TURNS)
  /** Functions that end the pauses of extensions. */
  readonly #rests = new Set<() => void>()
  readonly #running = new Set<Promise<void>>()
  #isStopped = true
  #starting: Promise<void> | null = null
  /** Cancels the timer that starts tracking new messages; null if there is none. */
  #cancelStart: (() => void) | null = null

  readonly #pace: PollPace

  constructor(readonly context: ReceiptContext) {
    this.#pace = context.config.fastDeliveryPolls ? TEST_PACE : PROVIDER_PACE
  }

  /** Whether messages that are sent now are tracked. */
  get isOn(): boolean {
    return this.context.config.deliveryTracking
  }

  /** Whether the provider may still report a final status of a message that became `sent` at `sentAt`, epoch milliseconds. */
  isPending(sentAt: number): boolean {
    return this.isOn && this.context.clock.now() - sentAt < TRACKED_MS
  }

  /** Starts tracking messages that were sent since the last call. Calls during a run share it. */
  startTracking(): Promise<void> {
    if (!this.isOn) return Promise.resolve()
    this.#starting ??= startTracking(this.context).finally(() => (this.#starting = null))
    return this.#starting
  }

  /** Finds extensions with open messages that are not polled. Call it at the start, and regularly, because a fault may leave some. */
  async findOpen(): Promise<void> {
    if (!this.isOn) return leaveUntracked(this.context)
    this.#isStopped = false
    await this.startTracking()
    for (const key of await trackedExtensions(this.context.database.gate))
      if (!this.#tracked.has(nameOf(key))) this.#enqueue(this.#track(key))
  }

  /** How many polls are in progress. */
  get inFlight(): number {
    return this.#running.size
  }

  /** Call it when a message of this extension was committed as sent. `sentAt` is steady time. */
  sent(key: ExtensionKey, sentAt: number): void {
    if (!this.isOn) return
    this.#cancelStart ??= this.context.clock.after(this.#pace.startAfterMs, () => this.#startSoon())
    const tracked = this.#tracked.get(nameOf(key)) ?? this.#track(key)
    this.#planAt(tracked, Math.min(tracked.nextAt, tracked.plan.firstPollAt(sentAt)))
  }

  /** Starts no more polls. Resolves when those in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelStart?.()
    for (const { cancel } of this.#tracked.values()) cancel()
    for (const endRest of this.#rests) endRest()
    await Promise.allSettled([...this.#running, this.#starting])
  }

  /** Starts a few messages at a time, because a poll that had to start thousands would delay everything else. */
  #startSoon(): void {
    this.#cancelStart = null
    if (this.#isStopped) return
    this.startTracking().catch((error: unknown) => {
      this.context.log.error({ error: errorName(error) }, 'delivery states cannot be opened, the next poll tries again')
    })
  }

  #track(key: ExtensionKey): Tracked {
    const tracked: Tracked = {
      key,
      plan: new PollPlan(this.#pace),
      nextAt: Infinity,
      cancel: () => undefined,
      isDue: false,
      maxPolled: MAX_POLLED,
    }
    this.#tracked.set(nameOf(key), tracked)
    return tracked
  }

  #planAt(tracked: Tracked, at: number): void {
    if (at === tracked.nextAt || at === Infinity) return
    tracked.nextAt = at
    tracked.cancel()
    const delayMs = Math.max(0, Math.ceil(at - this.context.clock.steady()))
    tracked.cancel = this.context.clock.after(delayMs, () => this.#enqueue(tracked))
  }

  #enqueue(tracked: Tracked): void {
    if (this.#isStopped || tracked.isDue) return
    tracked.isDue = true
    const { tenantId, extensionId } = tracked.key
    this.#turns.request(tenantId, [{ name: extensionId, max: 1 }], (turn) => {
      this.#polls.request(tenantId, [], (slot) => this.#begin(tracked, slot, turn))
    })
  }

  #begin(tracked: Tracked, slot: Slot, turn: Slot): void {
    tracked.isDue = false
    const run = this.#run(tracked).then((calls) => {
      this.#running.delete(run)
      slot.release()
      this.#rest(turn, calls)
    })
    this.#running.add(run)
  }

  /** Delays the next poll of an extension by `msPerCall` for each call. */
  #rest(turn: Slot, calls: number): void {
    if (calls === 0 || this.#isStopped) return turn.release()
    const cancel = this.context.clock.after(calls * this.#pace.msPerCall, () => {
      this.#rests.delete(cancel)
      turn.release()
    })
    this.#rests.add(cancel)
  }

  /**
   * Runs a poll and then plans the next one. A message that is sent during the poll can only make the next one earlier.
   * Returns how many calls it made.
   */
  async #run(tracked: Tracked): Promise<number> {
    tracked.nextAt = Infinity
    if (this.#isStopped) return 0
    try {
      const calls = await this.#poll(tracked)
      await this.#refresh(tracked)
      const at = tracked.plan.nextAt()
      if (at === null && tracked.nextAt === Infinity) this.#tracked.delete(nameOf(tracked.key))
      else if (at !== null) this.#planAt(tracked, Math.min(at, tracked.nextAt))
      return calls
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'delivery states cannot be polled, trying again')
      this.#planAt(tracked, this.context.clock.steady() + RETRY_AFTER_FAULT_MS)
      return 1
    }
  }

  async #poll(tracked: Tracked): Promise<number> {
    const { key, plan, maxPolled } = tracked
    await this.startTracking()
    await this.#refresh(tracked)
    const due = plan.due(this.context.clock.steady())
    if (due === null) return 0
    const { until, calls, ...next } = await poll(this.context, key, due.since, maxPolled)
    tracked.maxPolled = next.maxPolled
    plan.done(due, until)
    await endTracking(this.context, key)
    return calls
  }

  /** Updates the plan with the messages that are open now. */
  async #refresh({ key, plan }: Tracked): Promise<void> {
    plan.setFirstUnpolled(await firstSentAfter(this.context.database.gate, key, plan.doneUntil))
  }
}
