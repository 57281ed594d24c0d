import type { SendingContext } from './context.ts'
import type { CallSlots } from './call-slots.ts'
import { Entries } from './entries.ts'
import { type Entry, type Line, newEntry } from './line.ts'
import { Lines } from './lines.ts'
import type { Begun, SchedulerTasks } from './scheduler-tasks.ts'
import { senderOf } from './sender.ts'
import { ExtensionTurns } from './turns.ts'

/**
 * Decides which message may begin next: the oldest entry of a line whose conversation is free. The lines of an extension
 * take turns, and so do the extensions. The scheduler uses time, limits and memory, but neither the database nor the provider.
 */
export class Scheduler {
  readonly entries = new Entries()
  readonly lines = new Lines()
  readonly #extensions = new Map<string, ExtensionTurns>()
  /** Lines to be scheduled again. */
  readonly #touched = new Set<Line>()
  /** Extensions that may have a message to begin, in turn. */
  readonly #turns = new Set<ExtensionTurns>()
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

  extension(extensionId: string): ExtensionTurns {
    let extension = this.#extensions.get(extensionId)
    if (extension === undefined) this.#extensions.set(extensionId, (extension = new ExtensionTurns(extensionId)))
    return extension
  }

  /** Schedules the line again. Call it after every change that may let one of its messages begin. */
  touch(line: Line): void {
    this.#touched.add(line)
    this.#plan()
  }

  wake(tenantId: string): void {
    for (const line of this.lines.ofTenant(tenantId)) this.touch(line)
  }

  wakeAll(): void {
    for (const line of this.lines.all()) this.touch(line)
    for (const extension of this.#extensions.values()) this.#turns.add(extension)
    this.#plan()
  }

  /**
   * Takes all slots of a message that is being accepted, if its attempt may begin with its commit: nothing of its line or
   * extension waits for a turn, its sender is known, and all slots are free. Returns null if the message must wait.
   */
  reserve(tenantId: string, number: string, messageId: string, to: string): Begun | null {
    if (this.isStopped || this.slots.waitMs() > 0) return null
    const line = this.lines.of(tenantId, number)
    if (!line.isFree || line.heldUntil > this.context.clock.monotonic() || this.#isOpen(line, to)) return null
    if (line.waiting.some((other) => other.to === to || !this.#isOpen(line, other.to))) return null
    const sender = senderOf(this.context, tenantId, number)
    if (sender.type !== 'ready') return null
    const extension = this.extension(sender.extensionId)
    if (extension.lines.size > 0 || !extension.hasRoom) return null
    if (this.context.quota.waitMs(number, sender.extensionId) > 0) return null
    return this.#take(newEntry(line, messageId, to, 0), extension)
  }

  /** Puts an entry into its line: a message committed without an attempt, or one that is tried again. */
  add(entry: Entry): void {
    this.entries.add(entry)
    entry.line.insert(entry)
    this.touch(entry.line)
  }

  /** Adds an entry whose attempt was opened by an earlier run and is still open. */
  openAgain(entry: Entry): void {
    const waiting = this.entries.get(entry.messageId)
    if (waiting !== undefined) waiting.line.remove(waiting)
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
    this.touch(entry.line)
    this.tasks.left()
  }

  /** Call it when the entry's attempt is closed. */
  closed(entry: Entry): void {
    entry.attempt = null
    this.entries.close(entry)
    for (const line of this.lines.ofNumber(entry.line.number)) this.touch(line)
  }

  /** Call it when the message has ended. */
  ended(entry: Entry): void {
    this.closed(entry)
    entry.line.remove(entry)
    this.entries.delete(entry)
  }

  #isOpen(line: Line, to: string): boolean {
    return this.entries.isOpen(line.number, to)
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
    for (const line of touched) this.#enqueue(line)
    const begun = this.#beginAll()
    if (begun.length > 0) this.tasks.begin(begun)
  }

  /** Queues a line for a turn of its extension, if one of its entries may begin. */
  #enqueue(line: Line): void {
    line.cancelAlarm()
    const extension = this.#extensionFor(line)
    if (line.turns !== extension?.lines) line.turns?.delete(line)
    // A line that waits already keeps its turn.
    line.turns = extension?.lines.add(line) ?? null
    if (extension !== null) this.#turns.add(extension)
  }

  /** The extension whose turn the line waits for; null if no entry may begin, or no extension can send. */
  #extensionFor(line: Line): ExtensionTurns | null {
    if (this.#isHeld(line)) return null
    const entry = this.#nextOf(line)
    if (entry === null) return this.#withoutEntry(line)
    const sender = senderOf(this.context, line.tenantId, line.number)
    if (sender.type !== 'ready') return this.tasks.withoutSender(line, entry, sender)
    if (entry.refusal?.extensionId === sender.extensionId) return this.tasks.refused(line, entry)
    return this.extension(sender.extensionId)
  }

  #isHeld(line: Line): boolean {
    const waitMs = line.heldUntil - this.context.clock.monotonic()
    if (waitMs > 0) this.#touchLater(line, waitMs)
    return waitMs > 0
  }

  #touchLater(line: Line, ms: number): void {
    line.cancelAlarm()
    line.cancelAlarm = this.context.clock.after(Math.ceil(ms), () => this.touch(line))
  }

  #nextOf(line: Line): Entry | null {
    return line.next((to) => this.#isOpen(line, to), this.context.clock.monotonic())
  }

  #withoutEntry(line: Line): null {
    if (line.mayReadMore) return this.tasks.readMore(line)
    if (line.isEmpty) this.lines.forget(line)
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
  #beginNext(extension: ExtensionTurns): Begun | null {
    for (const line of extension.lines) {
      if (!extension.hasRoom || this.#isPaused(extension)) return null
      const entry = this.#nextOf(line)
      const waitMs = this.context.quota.numberWaitMs(line.number)
      if (entry === null) this.touch(line)
      else if (waitMs > 0) this.#touchLater(line, waitMs)
      else return this.#takeTurn(line, entry, extension)
    }
    return null
  }

  #takeTurn(line: Line, entry: Entry, extension: ExtensionTurns): Begun {
    line.remove(entry)
    extension.lines.delete(line)
    extension.lines.add(line)
    return this.#take(entry, extension)
  }

  #isPaused(extension: ExtensionTurns): boolean {
    const waitMs = this.context.quota.extensionWaitMs(extension.extensionId)
    if (waitMs <= 0) return false
    extension.cancelAlarm()
    extension.cancelAlarm = this.context.clock.after(Math.ceil(waitMs), () => {
      this.#turns.add(extension)
      this.#plan()
    })
    return true
  }

  #take(entry: Entry, extension: ExtensionTurns): Begun {
    const { extensionId } = extension
    this.entries.add(entry)
    this.entries.open(entry)
    extension.inFlight++
    this.slots.enter(entry)
    return { entry, extensionId, mark: this.context.quota.take(entry.line.number, extensionId) }
  }
}
