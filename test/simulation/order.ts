import type { Seen } from './seen.ts'

/** An attempt as it stands in the database. */
export interface SeenAttempt {
  seq: number
  messageId: string
  bootId: string
  isOpen: boolean
  /** Answered 503: after five in a row a message holds only its own conversation. */
  isRefused: boolean
}

/** What is remembered of a message. */
interface Known {
  message: Seen
  /** When it was committed and acknowledged, as numbers of steps: several steps can have the same time. */
  committedStep: number
  /** Infinity before its 202. */
  acknowledgedStep: number
  refusals: number
}

/** A claim may be decided a moment before the end of another attempt is committed. */
const DECIDED_BEFORE_MS = 200
const MAX_REFUSALS = 5

/**
 * Whether messages go out in the order of acceptance: those of a conversation always, and those of a number but for
 * conversations that wait for their own call or outcome. What was not acknowledged before another one was stored has no order with it.
 */
export class Order {
  readonly #known = new Map<string, Known>()
  readonly #open = new Map<number, SeenAttempt>()
  /** The process that lives: an attempt that a dead one's write has left is never called. */
  livingBoot = ''
  /** Until then a conversation may have been held by a message that could not be stored. */
  diskFaultUntil = 0
  #newestAttempt = 0
  /** Counts commits and 202s. */
  #step = 0
  /** When the latest attempt of a conversation ended, whichever tenant's. */
  readonly #closedAt = new Map<string, number>()
  /** Of each conversation, what the provider has accepted so far. */
  readonly #accepted = new Map<string, string[]>()

  constructor(readonly violated: (text: string) => void) {}

  acknowledged(messageId: string): void {
    const known = this.#known.get(messageId)
    if (known !== undefined) known.acknowledgedStep = Math.min(known.acknowledgedStep, ++this.#step)
  }

  /** After each commit. */
  committed(messages: Iterable<Seen>, attempts: readonly SeenAttempt[], now: number): void {
    this.#step++
    for (const message of messages) this.#note(message)
    const opened = attempts.filter(({ seq }) => seq > this.#newestAttempt)
    this.#compareAttempts(attempts, now)
    for (const attempt of opened) {
      this.#newestAttempt = Math.max(this.#newestAttempt, attempt.seq)
      if (attempt.bootId === this.livingBoot) this.#checkBegin(attempt, now)
    }
  }

  /** The provider has accepted a message. */
  accepted(messageId: string): void {
    const own = this.#known.get(messageId)
    if (own === undefined) return
    const name = conversationOf(own.message)
    const before = this.#accepted.get(name) ?? []
    this.#accepted.set(name, [...before, messageId])
    for (const other of before) {
      const later = this.#known.get(other)
      if (later !== undefined && isBefore(own, later)) this.violated(`${other} overtook ${messageId} in ${name}`)
    }
  }

  #note(message: Seen): void {
    const known = this.#known.get(message.id)
    if (known === undefined)
      this.#known.set(message.id, {
        message,
        committedStep: this.#step,
        acknowledgedStep: Infinity,
        refusals: 0,
      })
    else known.message = message
  }

  #compareAttempts(attempts: readonly SeenAttempt[], now: number): void {
    for (const attempt of attempts) {
      const wasOpen = this.#open.has(attempt.seq)
      if (attempt.isOpen) this.#open.set(attempt.seq, attempt)
      else if (wasOpen || attempt.seq > this.#newestAttempt) this.#noteClosed(attempt, now)
    }
    for (const seq of this.#open.keys())
      if (!attempts.some((attempt) => attempt.seq === seq && attempt.isOpen)) this.#open.delete(seq)
  }

  #noteClosed({ messageId, isRefused }: SeenAttempt, now: number): void {
    const known = this.#known.get(messageId)
    if (known === undefined) return
    this.#closedAt.set(pairOf(known.message), now)
    known.refusals = isRefused ? known.refusals + 1 : 0
  }

  #checkBegin(attempt: SeenAttempt, now: number): void {
    const own = this.#known.get(attempt.messageId)
    if (own === undefined) return
    for (const earlier of this.#known.values()) {
      if (!isBefore(earlier, own) || lineOf(earlier.message) !== lineOf(own.message)) continue
      if (!isWaiting(earlier.message)) continue
      const isSame = conversationOf(earlier.message) === conversationOf(own.message)
      if (isSame || !this.#mayBePassed(earlier, now))
        this.violated(`${own.message.id} began although ${earlier.message.id} of ${lineOf(own.message)} came before it`)
    }
  }

  /** Its conversation waits for a call or an outcome, or the provider does not want this very message. */
  #mayBePassed({ message, refusals }: Known, now: number): boolean {
    const closedAt = this.#closedAt.get(pairOf(message)) ?? -Infinity
    if (now < this.diskFaultUntil || refusals >= MAX_REFUSALS || now - closedAt < DECIDED_BEFORE_MS) return true
    for (const { messageId } of this.#open.values()) {
      const open = this.#known.get(messageId)?.message
      if (open !== undefined && pairOf(open) === pairOf(message)) return true
    }
    return false
  }
}

/** The first message was acknowledged before the second one was stored. */
const isBefore = (one: Known, other: Known): boolean =>
  one.message.seq < other.message.seq && one.acknowledgedStep < other.committedStep

const isWaiting = ({ status }: Seen): boolean => status === 'queued' || status === 'sending'

const lineOf = ({ tenantId, from }: Seen): string => `${tenantId} ${from}`

const pairOf = ({ from, to }: Seen): string => `${from} ${to}`

const conversationOf = ({ tenantId, from, to }: Seen): string => `${tenantId} ${from} → ${to}`
