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

/** What a sync lists: a message. Hints about threads are left out, because two kinds of the reference fit them at once. */
export interface ThreadEntry {
  message: Message
  thread: Thread
}

/** The message threads of all accounts, and their entries in the order in which they came. */
export class Threads {
  readonly #byId = new Map<string, Thread>()
  /** By their two numbers. */
  readonly #open = new Map<string, Thread>()
  readonly #entries: ThreadEntry[] = []

  constructor(private readonly clock: Clock) {}

  /** The open thread of the two numbers, which is made if there is none. */
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

  /** Resolves all that are open, as their assignees or three quiet days do. */
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

/** Those of a user alone have no threads: only numbers that several share do. */
export const isShared = (reader: Extension, { ownerId, usageType }: PhoneNumber): boolean =>
  ownerId !== reader.id || usageType !== 'DirectNumber'
