import type { Clock } from '../core/clock.ts'
import type { Extension, PhoneNumber } from './directory.ts'
import type { Message } from './messages.ts'

/** A conversation of a shared number with a contact (RingCentral developer guide, "SMS Thread Messaging"). */
export interface Thread {
  id: string
  accountId: number
  /** The account's number. */
  number: string
  contact: string
  /** The extension that the number belongs to. */
  ownerId: number
  isOpen: boolean
  createdAt: number
  modifiedAt: number
}

/** What a sync lists: a message. Hints about threads are left out, because they match two kinds in the reference. */
export interface ThreadEntry {
  message: Message
  thread: Thread
}

/** The message threads of all accounts, and their entries in the order of arrival. */
export class Threads {
  readonly #byId = new Map<string, Thread>()
  /** By their two numbers. */
  readonly #open = new Map<string, Thread>()
  readonly #entries: ThreadEntry[] = []

  constructor(private readonly clock: Clock) {}

  /** The open thread of the two numbers, created if there is none. */
  openFor(owner: Extension, number: string, contact: string): Thread {
    const open = this.#open.get(`${number} ${contact}`)
    if (open !== undefined) return open
    const now = this.clock.now()
    const of = { id: crypto.randomUUID(), accountId: owner.accountId, ownerId: owner.id }
    const thread: Thread = { ...of, number, contact, isOpen: true, createdAt: now, modifiedAt: now }
    this.#byId.set(thread.id, thread)
    this.#open.set(`${number} ${contact}`, thread)
    return thread
  }

  add(thread: Thread, message: Message): void {
    thread.modifiedAt = message.createdAt
    this.#entries.push({ message, thread })
  }

  /** Resolves all open threads, as their assignees do, or three days of silence. */
  resolveAll(): number {
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const thread of open) Object.assign(thread, { isOpen: false, modifiedAt: this.clock.now() })
    return open.length
  }

  find(id: string): Thread | undefined {
    return this.#byId.get(id)
  }

  /** Oldest first. */
  all(): Thread[] {
    return [...this.#byId.values()]
  }

  /** Those from a position on, oldest first. */
  entries(from = 0): readonly ThreadEntry[] {
    return this.#entries.slice(from)
  }
}

/** A number that only one user has gets no threads: only shared numbers do. */
export const isShared = (reader: Extension, { ownerId, usageType }: PhoneNumber): boolean =>
  ownerId !== reader.id || usageType !== 'DirectNumber'
