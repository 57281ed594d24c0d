import type { SendingContext } from './context.ts'
import type { CallSlots } from './call-slots.ts'
import { Entries } from './entries.ts'
import { ExtensionTurns } from './extension-turns.ts'
import { MediaCalls } from './media-calls.ts'
import { type Entry, type NumberQueue, newEntry } from './number-queue.ts'
import { NumberQueues } from './number-queues.ts'
import type { Reservation, SchedulerTasks } from './scheduler-tasks.ts'
import { senderOf } from './sending-extension.ts'

/**
 * Decides which message may start next: the oldest entry of a number queue whose conversation is not busy. The queues of an extension take
 * turns, and so do the extensions. Uses time, limits and memory, but neither the database nor the provider. `Attempts` makes the calls for its
 * reservations.
 */
export class Scheduler {
  readonly entries = new Entries()
  readonly queues = new NumberQueues()
  readonly mediaCalls: MediaCalls
  readonly #extensions = new Map<string, ExtensionTurns>()
  /** Queues to be examined in the next run. */
  readonly #touched = new Set<NumberQueue>()
  /** Extensions that may have a message to start, in turn. */
  readonly #ready = new Set<ExtensionTurns>()
  /** Fires when time frees a call slot. */
  readonly #slotAlarm = { cancelAlarm: (): void => undefined }
  #isPlanned = false
  isStopped = true

  constructor(
    readonly context: Pick<SendingContext, 'clock' | 'quota' | 'directory' | 'defer'>,
    readonly slots: CallSlots,
    readonly tasks: SchedulerTasks,
  ) {
    this.mediaCalls = new MediaCalls(context, (queue) => this.touch(queue))
  }

  start(): void {
    this.isStopped = false
    for (const queue of this.queues.all()) this.touch(queue)
  }

  stop(): void {
    this.isStopped = true
  }

  extension(extensionId: string): ExtensionTurns {
    let extension = this.#extensions.get(extensionId)
    if (extension === undefined) this.#extensions.set(extensionId, (extension = new ExtensionTurns(extensionId)))
    return extension
  }

  /** Marks the queue to be examined in the next run. Call it after every change that may let a message begin. */
  touch(queue: NumberQueue): void {
    this.#touched.add(queue)
    this.plan()
  }

  wake(tenantId: string): void {
    for (const queue of this.queues.ofTenant(tenantId)) this.touch(queue)
  }

  /**
   * Takes all slots of a message that is being accepted, if its attempt may begin with its commit: nothing of its queue or
   * extension waits for a turn, an extension can send now, and a call slot and both rate windows have room. Returns null if the message must wait.
   */
  reserve(tenantId: string, number: string, messageId: string, to: string): Reservation | null {
    if (this.isStopped || this.slots.waitMs() > 0) return null
    const queue = this.queues.getOrCreate(tenantId, number)
    if (!queue.isComplete || queue.retryAt > this.context.clock.monotonic() || this.entries.isBusy(number, to))
      return null
    if (queue.waiting.some((other) => other.to === to) || this.nextOf(queue) !== null) return null
    const sender = senderOf(this.context, tenantId, number)
    if (sender.type !== 'ready') return null
    const extension = this.extension(sender.extensionId)
    if (extension.queues.size > 0 || !extension.hasRoom) return null
    if (this.context.quota.waitMs(number, sender.extensionId) > 0) return null
    return this.#take(newEntry(queue, messageId, to, 0), extension)
  }

  /**
   * Puts a message that was committed without an attempt into its queue. At the end of a long queue it stays in the job table until its turn is
   * near.
   */
  enter(entry: Entry): void {
    if (!entry.queue.isLong) return this.add(entry)
    entry.queue.hasMore = true
    this.entries.delete(entry)
    this.touch(entry.queue)
  }

  /** Puts an entry into its queue, at the position of its `jobSeq`. */
  add(entry: Entry): void {
    this.entries.add(entry)
    entry.queue.insert(entry)
    this.touch(entry.queue)
  }

  /** Adds an entry whose attempt was opened by an earlier process and is still open. */
  addOpen(entry: Entry): void {
    const waiting = this.entries.get(entry.messageId)
    if (waiting !== undefined) waiting.queue.remove(waiting)
    this.entries.add(entry)
    this.entries.setBusy(entry)
  }

  /** Call it when the call slot of a reservation is free. */
  slotFreed({ entry, extensionId }: Reservation): void {
    const extension = this.extension(extensionId)
    extension.inFlight--
    this.mediaCalls.free(entry)
    this.#ready.add(extension)
    this.touch(entry.queue)
    this.tasks.slotFreed()
  }

  /** Call it when the entry's attempt is closed. */
  freeConversation(entry: Entry): void {
    entry.attempt = null
    this.entries.setFree(entry)
    for (const queue of this.queues.ofNumber(entry.queue.number)) this.touch(queue)
  }

  /** Removes an entry whose message has ended or was not stored. */
  forget(entry: Entry): void {
    this.freeConversation(entry)
    entry.queue.remove(entry)
    this.entries.delete(entry)
  }

  /** The next entry of the queue; null if none may begin. */
  nextOf(queue: NumberQueue): Entry | null {
    const isHeld = (entry: Entry): boolean =>
      this.entries.isBusy(queue.number, entry.to) || this.mediaCalls.isHeld(entry)
    return queue.next(isHeld, this.context.clock.monotonic())
  }

  /** Plans a run. Call it after a change that frees a slot of all extensions. */
  plan(): void {
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
    const reservations = this.#reserveAll()
    if (reservations.length > 0) this.tasks.begin(reservations)
  }

  /** Makes a queue wait for its extension's turn, if one of its entries may start. */
  #enqueue(queue: NumberQueue): void {
    queue.cancelAlarm()
    const extension = this.#examine(queue)
    if (queue.waitsFor !== extension) queue.waitsFor?.queues.delete(queue)
    queue.waitsFor = extension
    if (extension === null) return
    // A queue that waits already keeps its turn.
    extension.queues.add(queue)
    this.#ready.add(extension)
  }

  /** Returns the extension that can send the next entry. If there is none, starts the work that the queue waits for. */
  #examine(queue: NumberQueue): ExtensionTurns | null {
    if (queue.waitingWithMedia.size > 0) this.tasks.mediaWait(queue)
    const retryMs = queue.retryAt - this.context.clock.monotonic()
    const entry = this.nextOf(queue)
    const sender = senderOf(this.context, queue.tenantId, queue.number, entry?.movedNumber)
    if (retryMs > 0) this.#later(queue, retryMs, () => this.touch(queue))
    else if (entry === null && queue.mayReadMore) this.tasks.readMore(queue)
    else if (entry === null) this.queues.forgetIfEmpty(queue)
    else if (sender.type !== 'ready') this.tasks.withoutSender(queue, entry, sender)
    else if (entry.movedNumber === null || !this.tasks.numberMoved(queue, entry, sender.extensionId))
      return this.extension(sender.extensionId)
    return null
  }

  /** Reserves one entry of each extension in turn, until none may begin. */
  #reserveAll(): Reservation[] {
    const reservations: Reservation[] = []
    for (const extension of this.#ready) {
      const slotMs = this.slots.waitMs()
      if (slotMs > 0 && slotMs < Infinity) this.#later(this.#slotAlarm, slotMs, () => this.plan())
      if (slotMs > 0) break
      this.#ready.delete(extension)
      const reservation = this.#reserveNext(extension)
      if (reservation === null) continue
      reservations.push(reservation)
      this.#ready.add(extension)
    }
    return reservations
  }

  /** Reserves the next entry of an extension; null if none may begin now. */
  #reserveNext(extension: ExtensionTurns): Reservation | null {
    if (extension.queues.size === 0 || !extension.hasRoom) return null
    const waitMs = this.context.quota.extensionWaitMs(extension.extensionId)
    if (waitMs <= 0) return this.#reserveFirst(extension)
    this.#later(extension, waitMs, () => {
      this.#ready.add(extension)
      this.plan()
    })
    return null
  }

  #reserveFirst(extension: ExtensionTurns): Reservation | null {
    for (const queue of extension.queues) {
      const entry = this.nextOf(queue)
      const waitMs = this.context.quota.numberWaitMs(queue.number)
      if (entry === null) this.touch(queue)
      else if (waitMs > 0) this.#later(queue, waitMs, () => this.touch(queue))
      else return this.#take(entry, extension)
    }
    return null
  }

  #take(entry: Entry, extension: ExtensionTurns): Reservation {
    const { queue } = entry
    const { extensionId } = extension
    queue.remove(entry)
    // A queue that had a turn waits behind the others.
    if (extension.queues.delete(queue)) extension.queues.add(queue)
    this.entries.add(entry)
    this.entries.setBusy(entry)
    extension.inFlight++
    this.slots.take(entry)
    this.mediaCalls.take(entry, extensionId)
    this.context.quota.take(queue.number, extensionId)
    return { entry, extensionId }
  }

  #later(waiting: { cancelAlarm: () => void }, ms: number, ring: () => void): void {
    waiting.cancelAlarm()
    waiting.cancelAlarm = this.context.clock.after(Math.ceil(ms), ring)
  }
}
