import type { SendingContext } from './context.ts'
import type { CallSlots } from './call-slots.ts'
import { Entries } from './entries.ts'
import { type Entry, type Line, newEntry } from './line.ts'
import { Lines } from './lines.ts'
import type { Begun, SchedulerTasks } from './scheduler-tasks.ts'
import { senderOf } from './sender.ts'
import { ExtensionTurns } from './turns.ts'

/**
 * Answers one question: what may begin next? The oldest entry of a line that its conversation does not hold; the lines of an
 * extension in turn; the extensions in turn. It knows time, limits and memory, and neither the database nor the provider.
 */
export class Scheduler {
  readonly entries = new Entries()
  readonly lines = new Lines()
  readonly #extensions = new Map<string, ExtensionTurns>()
  /** Lines that something has happened to. */
  readonly #touched = new Set<Line>()
  /** Extensions that may have something to begin, in turn. */
  readonly #turns = new Set<ExtensionTurns>()
  /** Of the time at which a slot is free again. */
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

  /** Something has happened to the line: it is looked at again. */
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
   * Takes every place that a message needs which is just being accepted, if it may begin with its commit: nothing of its line
   * or extension waits for a turn, and everything is known and free. Null where it must wait.
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

  /** A message was committed without an attempt, or is to be tried again. */
  add(entry: Entry): void {
    this.entries.add(entry)
    entry.line.insert(entry)
    this.touch(entry.line)
  }

  /** An attempt of an earlier run is still open. */
  openAgain(entry: Entry): void {
    const waiting = this.entries.get(entry.messageId)
    if (waiting !== undefined) waiting.line.remove(waiting)
    this.entries.add(entry)
    this.entries.open(entry)
  }

  /** The provider has answered the call of this entry: another one may begin before its outcome is stored. */
  answered(entry: Entry): void {
    this.slots.answered(entry)
    this.#plan()
  }

  /** The call of this entry has ended, or was never made. Its conversation stays as it is. */
  left({ entry, extensionId }: Begun): void {
    const extension = this.extension(extensionId)
    extension.inFlight--
    this.slots.leave(entry)
    this.#turns.add(extension)
    this.touch(entry.line)
    this.tasks.left()
  }

  /** The entry has no open attempt any more. */
  closed(entry: Entry): void {
    entry.attempt = null
    this.entries.close(entry)
    for (const line of this.lines.ofNumber(entry.line.number)) this.touch(line)
  }

  /** The message has ended. */
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
    for (const line of touched) this.#place(line)
    const begun = this.#beginAll()
    if (begun.length > 0) this.tasks.begin(begun)
  }

  /** Lets a line wait for the turn of its extension, or for what it lacks. */
  #place(line: Line): void {
    line.cancelAlarm()
    const extension = this.#extensionFor(line)
    if (line.turns !== extension?.lines) line.turns?.delete(line)
    // A line that waits already keeps its turn.
    line.turns = extension?.lines.add(line) ?? null
    if (extension !== null) this.#turns.add(extension)
  }

  /** Whose turns the line waits for; null if nothing of it may begin, or nobody can send for it. */
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

  /** One entry of each extension in turn, until nothing may begin. */
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

  /** The entry whose turn it is; null if nothing of the extension may begin now. */
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
