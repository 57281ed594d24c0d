import type { SendingContext } from './context.ts'
import type { CallSlots } from './call-slots.ts'
import { Entries } from './entries.ts'
import { type Entry, type NumberQueue, newEntry } from './number-queue.ts'
import { NumberQueues } from './number-queues.ts'
import type { Begun, SchedulerTasks } from './scheduler-tasks.ts'
import { senderOf } from './sender.ts'
import { ExtensionQueue } from './extension-queue.ts'

/**
 * Decides which message may begin next: the oldest entry of a queue whose conversation is free. The queues of an extension
 * take turns, and so do the extensions. The scheduler uses time, limits and memory, but neither the database nor the provider.
 */
export class Scheduler {
  readonly entries = new Entries()
  readonly queues = new NumberQueues()
  readonly #extensions = new Map<string, ExtensionQueue>()
  /** NumberQueues to be scheduled again. */
  readonly #touched = new Set<NumberQueue>()
  /** Extensions that may have a message to begin, in turn. */
  readonly #turns = new Set<ExtensionQueue>()
  /** Cancels the timer for the next free slot. */
  #cancelAlarm: () => void = () => undefined
  #isPlanned = false
  isStopped = true

  constructor(
    readonly context: Pick<SendingContext, 'clock' | 'quota' | 'directory' | 'defer'>,
    readonly slots: CallSlots,
    readonly tasks: SchedulerTasks,
  ) {}

  start(): void {
    this.isStopped = false
    this.wakeAll()
  }

  stop(): void {
    this.isStopped = true
  }

  extension(extensionId: string): ExtensionQueue {
    let extension = this.#extensions.get(extensionId)
    if (extension === undefined) this.#extensions.set(extensionId, (extension = new ExtensionQueue(extensionId)))
    return extension
  }

  /** Schedules the queue again. Call it after every change that may let one of its messages begin. */
  touch(queue: NumberQueue): void {
    this.#touched.add(queue)
    this.#plan()
  }

  wake(tenantId: string): void {
    for (const queue of this.queues.ofTenant(tenantId)) this.touch(queue)
  }

  wakeAll(): void {
    for (const queue of this.queues.all()) this.touch(queue)
    for (const extension of this.#extensions.values()) this.#turns.add(extension)
    this.#plan()
  }

  /**
   * Takes all slots of a message that is being accepted, if its attempt may begin with its commit: nothing of its queue or
   * extension waits for a turn, its sender is known, and all slots are free. Returns null if the message must wait.
   */
  reserve(tenantId: string, number: string, messageId: string, to: string): Begun | null {
    if (this.isStopped || this.slots.waitMs() > 0) return null
    const queue = this.queues.of(tenantId, number)
    if (!queue.isFree || queue.heldUntil > this.context.clock.monotonic() || this.#isOpen(queue, to)) return null
    if (queue.waiting.some((other) => other.to === to || !this.#isOpen(queue, other.to))) return null
    const sender = senderOf(this.context, tenantId, number)
    if (sender.type !== 'ready') return null
    const extension = this.extension(sender.extensionId)
    if (extension.queues.size > 0 || !extension.hasRoom) return null
    if (this.context.quota.waitMs(number, sender.extensionId) > 0) return null
    return this.#take(newEntry(queue, messageId, to, 0), extension)
  }

  /** Puts an entry into its queue: a message committed without an attempt, or one that is tried again. */
  add(entry: Entry): void {
    this.entries.add(entry)
    entry.queue.insert(entry)
    this.touch(entry.queue)
  }

  /** Adds an entry whose attempt was opened by an earlier run and is still open. */
  openAgain(entry: Entry): void {
    const waiting = this.entries.get(entry.messageId)
    if (waiting !== undefined) waiting.queue.remove(waiting)
    this.entries.add(entry)
    this.entries.open(entry)
  }

  /** Call it when the provider has answered: another call may begin before this outcome is stored. */
  answered(entry: Entry): void {
    this.slots.answered(entry)
    this.#plan()
  }

  /** Call it when the call has ended, or was not made. Does not change the conversation. */
  left({ entry, extensionId }: Begun): void {
    const extension = this.extension(extensionId)
    extension.inFlight--
    this.slots.leave(entry)
    this.#turns.add(extension)
    this.touch(entry.queue)
    this.tasks.left()
  }

  /** Call it when the entry's attempt is closed. */
  closed(entry: Entry): void {
    entry.attempt = null
    this.entries.close(entry)
    for (const queue of this.queues.ofNumber(entry.queue.number)) this.touch(queue)
  }

  /** Call it when the message has ended. */
  ended(entry: Entry): void {
    this.closed(entry)
    entry.queue.remove(entry)
    this.entries.delete(entry)
  }

  #isOpen(queue: NumberQueue, to: string): boolean {
    return this.entries.isOpen(queue.number, to)
  }

  #plan(): void {
    if (this.#isPlanned || this.isStopped) return
    this.#isPlanned = true
    this.context.defer(() => this.#run())
  }

  #run(): void {
    this.#isPlanned = false
    if (this.isStopped) return
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const queue of touched) this.#enqueue(queue)
    const begun = this.#beginAll()
    if (begun.length > 0) this.tasks.begin(begun)
  }

  /** Queues a queue for a turn of its extension, if one of its entries may begin. */
  #enqueue(queue: NumberQueue): void {
    queue.cancelAlarm()
    const extension = this.#extensionFor(queue)
    if (queue.turns !== extension?.queues) queue.turns?.delete(queue)
    // A queue that waits already keeps its turn.
    queue.turns = extension?.queues.add(queue) ?? null
    if (extension !== null) this.#turns.add(extension)
  }

  /** The extension whose turn the queue waits for; null if no entry may begin, or no extension can send. */
  #extensionFor(queue: NumberQueue): ExtensionQueue | null {
    if (this.#isHeld(queue)) return null
    const entry = this.#nextOf(queue)
    if (entry === null) return this.#withoutEntry(queue)
    const sender = senderOf(this.context, queue.tenantId, queue.number)
    if (sender.type !== 'ready') return this.tasks.withoutSender(queue, entry, sender)
    if (entry.refusal?.extensionId === sender.extensionId) return this.tasks.refused(queue, entry)
    return this.extension(sender.extensionId)
  }

  #isHeld(queue: NumberQueue): boolean {
    const waitMs = queue.heldUntil - this.context.clock.monotonic()
    if (waitMs > 0) this.#touchLater(queue, waitMs)
    return waitMs > 0
  }

  #touchLater(queue: NumberQueue, ms: number): void {
    queue.cancelAlarm()
    queue.cancelAlarm = this.context.clock.after(Math.ceil(ms), () => this.touch(queue))
  }

  #nextOf(queue: NumberQueue): Entry | null {
    return queue.next((to) => this.#isOpen(queue, to), this.context.clock.monotonic())
  }

  #withoutEntry(queue: NumberQueue): null {
    if (queue.mayReadMore) return this.tasks.readMore(queue)
    if (queue.isEmpty) this.queues.forget(queue)
    return null
  }

  /** Begins one entry of each extension in turn, until none may begin. */
  #beginAll(): Begun[] {
    const begun: Begun[] = []
    for (const extension of this.#turns) {
      if (!this.#hasSlot()) break
      this.#turns.delete(extension)
      const next = this.#beginNext(extension)
      if (next === null) continue
      begun.push(next)
      this.#turns.add(extension)
    }
    return begun
  }

  #hasSlot(): boolean {
    const waitMs = this.slots.waitMs()
    this.#cancelAlarm()
    if (waitMs > 0 && waitMs < Infinity)
      this.#cancelAlarm = this.context.clock.after(Math.ceil(waitMs), () => this.#plan())
    return waitMs <= 0
  }

  /** Begins the next entry of an extension; null if none may begin now. */
  #beginNext(extension: ExtensionQueue): Begun | null {
    for (const queue of extension.queues) {
      if (!extension.hasRoom || this.#isPaused(extension)) return null
      const entry = this.#nextOf(queue)
      const waitMs = this.context.quota.numberWaitMs(queue.number)
      if (entry === null) this.touch(queue)
      else if (waitMs > 0) this.#touchLater(queue, waitMs)
      else return this.#takeTurn(queue, entry, extension)
    }
    return null
  }

  #takeTurn(queue: NumberQueue, entry: Entry, extension: ExtensionQueue): Begun {
    queue.remove(entry)
    extension.queues.delete(queue)
    extension.queues.add(queue)
    return this.#take(entry, extension)
  }

  #isPaused(extension: ExtensionQueue): boolean {
    const waitMs = this.context.quota.extensionWaitMs(extension.extensionId)
    if (waitMs <= 0) return false
    extension.cancelAlarm()
    extension.cancelAlarm = this.context.clock.after(Math.ceil(waitMs), () => {
      this.#turns.add(extension)
      this.#plan()
    })
    return true
  }

  #take(entry: Entry, extension: ExtensionQueue): Begun {
    const { extensionId } = extension
    this.entries.add(entry)
    this.entries.open(entry)
    extension.inFlight++
    this.slots.enter(entry)
    return { entry, extensionId, mark: this.context.quota.take(entry.queue.number, extensionId) }
  }
}
