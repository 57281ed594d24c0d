import { type Entry, conversationOf } from './number-queue.ts'

/** Finds the entries in memory: by message, and the one with an open attempt by conversation. */
export class Entries {
  readonly #byMessage = new Map<string, Entry>()
  readonly #open = new Map<string, Entry>()

  add(entry: Entry): void {
    this.#byMessage.set(entry.messageId, entry)
  }

  get(messageId: string): Entry | undefined {
    return this.#byMessage.get(messageId)
  }

  has(messageId: string): boolean {
    return this.#byMessage.has(messageId)
  }

  delete(entry: Entry): void {
    if (this.#byMessage.get(entry.messageId) === entry) this.#byMessage.delete(entry.messageId)
  }

  isOpen(from: string, to: string): boolean {
    return this.#open.has(conversationOf(from, to))
  }

  open(entry: Entry): void {
    this.#open.set(conversationOf(entry.queue.number, entry.to), entry)
    entry.queue.open.add(entry)
  }

  close(entry: Entry): void {
    entry.queue.open.delete(entry)
    const conversation = conversationOf(entry.queue.number, entry.to)
    if (this.#open.get(conversation) === entry) this.#open.delete(conversation)
  }

  /** Attempts of an extension whose outcome is unknown, oldest first. */
  unknown(tenantId: string, extensionId: string): Entry[] {
    const found: Entry[] = []
    for (const entry of this.#open.values()) {
      const { attempt, queue } = entry
      if (attempt === null || attempt.absentAfter === null) continue
      if (attempt.extensionId === extensionId && queue.tenantId === tenantId) found.push(entry)
    }
    return found.toSorted((one, other) => one.jobSeq - other.jobSeq)
  }
}
