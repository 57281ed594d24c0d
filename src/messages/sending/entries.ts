import { type Entry, conversationOf } from './number-queue.ts'

/** Finds entries in memory: by message, and by the conversation that they make busy. */
export class Entries {
  readonly #byMessage = new Map<string, Entry>()
  readonly #busy = new Map<string, Entry>()

  add(entry: Entry): void {
    this.#byMessage.set(entry.messageId, entry)
  }

  get(messageId: string): Entry | undefined {
    return this.#byMessage.get(messageId)
  }

  delete(entry: Entry): void {
    if (this.#byMessage.get(entry.messageId) === entry) this.#byMessage.delete(entry.messageId)
  }

  /** Whether an attempt of the conversation is open, or is being opened. */
  isBusy(from: string, to: string): boolean {
    return this.#busy.has(conversationOf(from, to))
  }

  setBusy(entry: Entry): void {
    this.#busy.set(conversationOf(entry.queue.number, entry.to), entry)
    entry.queue.busy.add(entry)
  }

  setFree(entry: Entry): void {
    entry.queue.busy.delete(entry)
    const conversation = conversationOf(entry.queue.number, entry.to)
    if (this.#busy.get(conversation) === entry) this.#busy.delete(conversation)
  }

  /** Attempts of an extension whose outcome is unknown, oldest first. */
  unknown(tenantId: string, extensionId: string): Entry[] {
    const found: Entry[] = []
    for (const entry of this.#busy.values()) {
      const { attempt, queue } = entry
      if (attempt === null || attempt.absentAfter === null) continue
      if (attempt.extensionId === extensionId && queue.tenantId === tenantId) found.push(entry)
    }
    return found.toSorted((one, other) => one.jobSeq - other.jobSeq)
  }
}
