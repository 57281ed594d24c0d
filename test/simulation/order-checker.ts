import type { MessageSnapshot } from './message-snapshot.ts'

/** An attempt as stored in the database. */
export interface AttemptSnapshot {
  seq: number
  messageId: string
  bootId: string
  isOpen: boolean
  /** It was answered 503, or turned away by something on the way. After five such answers in a row, a message delays only its own conversation. */
  isRefused: boolean
}

/** The recorded state of a message. */
interface Known {
  message: MessageSnapshot
  /** The step of its commit. Steps are counted, because several of them can have the same time. */
  committedStep: number
  /** The step of its 202, or infinity before it. */
  acknowledgedStep: number
  /** The time of the commit that ended it, or infinity before it. */
  endedAt: number
  refusals: number
}

/** A claim may be decided shortly before the end of another attempt, or of a message that was about to begin, is committed. */
const DECIDED_BEFORE_MS = 200
const MAX_REFUSALS = 5

/**
 * Checks that messages are sent in the order of acceptance: those of a conversation always, and those of a number except
 * for conversations that wait for their own call or outcome. Two messages have an order only if the first was acknowledged
 * before the second was stored.
 */
export class OrderChecker {
  readonly #known = new Map<string, Known>()
  readonly #open = new Map<number, AttemptSnapshot>()
  /** The current boot. An attempt that a late write of an earlier boot stored is never called. */
  currentBoot = ''
  /** Until this time, a message that could not be stored may have delayed a conversation. */
  diskFaultUntil = 0
  #newestAttempt = 0
  /** Counts commits and 202s. */
  #step = 0
  /** The end of the latest attempt of a conversation, of any tenant. */
  readonly #closedAt = new Map<string, number>()
  /** The messages of each conversation that the provider has accepted. */
  readonly #accepted = new Map<string, string[]>()

  constructor(readonly violated: (text: string) => void) {}

  acknowledged(messageId: string): void {
    const known = this.#known.get(messageId)
    if (known !== undefined) known.acknowledgedStep = Math.min(known.acknowledgedStep, ++this.#step)
  }

  /** Call after each commit. */
  committed(messages: Iterable<MessageSnapshot>, attempts: readonly AttemptSnapshot[], now: number): void {
    this.#step++
    for (const message of messages) this.#note(message, now)
    const opened = attempts.filter(({ seq }) => seq > this.#newestAttempt)
    this.#compareAttempts(attempts, now)
    for (const attempt of opened) {
      this.#newestAttempt = Math.max(this.#newestAttempt, attempt.seq)
      if (attempt.bootId === this.currentBoot) this.#checkBegin(attempt, now)
    }
  }

  /** Call when the provider has accepted a message. */
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

  #note(message: MessageSnapshot, now: number): void {
    const known = this.#known.get(message.id)
    if (known === undefined)
      this.#known.set(message.id, {
        message,
        committedStep: this.#step,
        acknowledgedStep: Infinity,
        endedAt: Infinity,
        refusals: 0,
      })
    else {
      if (!isWaiting(message)) known.endedAt = Math.min(known.endedAt, now)
      known.message = message
    }
  }

  #compareAttempts(attempts: readonly AttemptSnapshot[], now: number): void {
    for (const attempt of attempts) {
      const wasOpen = this.#open.has(attempt.seq)
      if (attempt.isOpen) this.#open.set(attempt.seq, attempt)
      else if (wasOpen || attempt.seq > this.#newestAttempt) this.#noteClosed(attempt, now)
    }
    for (const seq of this.#open.keys())
      if (!attempts.some((attempt) => attempt.seq === seq && attempt.isOpen)) this.#open.delete(seq)
  }

  #noteClosed({ messageId, isRefused }: AttemptSnapshot, now: number): void {
    const known = this.#known.get(messageId)
    if (known === undefined) return
    this.#closedAt.set(pairOf(known.message), now)
    known.refusals = isRefused ? known.refusals + 1 : 0
  }

  #checkBegin(attempt: AttemptSnapshot, now: number): void {
    const own = this.#known.get(attempt.messageId)
    if (own === undefined) return
    for (const earlier of this.#known.values()) {
      if (!isBefore(earlier, own) || lineOf(earlier.message) !== lineOf(own.message)) continue
      if (!isWaiting(earlier.message)) continue
      const isSame = conversationOf(earlier.message) === conversationOf(own.message)
      if (isSame || !this.#mayBeOvertaken(earlier, now))
        this.violated(`${own.message.id} began although ${earlier.message.id} of ${lineOf(own.message)} came before it`)
    }
  }

  /**
   * Whether other messages may overtake it: its conversation waits for a call or an outcome, or the provider keeps
   * refusing it.
   */
  #mayBeOvertaken(earlier: Known, now: number): boolean {
    const { message, refusals } = earlier
    if (this.#hasJustWaited(earlier, now)) return true
    const closedAt = this.#closedAt.get(pairOf(message)) ?? -Infinity
    if (now < this.diskFaultUntil || refusals >= MAX_REFUSALS || now - closedAt < DECIDED_BEFORE_MS) return true
    for (const { messageId } of this.#open.values()) {
      const open = this.#known.get(messageId)?.message
      if (open !== undefined && pairOf(open) === pairOf(message)) return true
    }
    return false
  }

  /**
   * Whether its conversation waited a moment ago for a message that ended without an attempt: one that is cancelled when its attempt is
   * about to be opened holds its conversation until that fails.
   */
  #hasJustWaited(earlier: Known, now: number): boolean {
    return this.#known.values().some((other) => {
      const sinceMs = now - other.endedAt
      return sinceMs >= 0 && sinceMs < DECIDED_BEFORE_MS && mayHold(other, earlier)
    })
  }
}

/** Whether the first message may have held the conversation of the other one: the oldest of a tenant goes first. */
const mayHold = ({ message: one }: Known, { message: other }: Known): boolean =>
  pairOf(one) === pairOf(other) && (one.tenantId !== other.tenantId || one.seq < other.seq)

/** Whether the first message was acknowledged before the second one was stored. */
const isBefore = (one: Known, other: Known): boolean =>
  one.message.seq < other.message.seq && one.acknowledgedStep < other.committedStep

const isWaiting = ({ status }: MessageSnapshot): boolean => status === 'queued' || status === 'sending'

const lineOf = ({ tenantId, from }: MessageSnapshot): string => `${tenantId} ${from}`

const pairOf = ({ from, to }: MessageSnapshot): string => `${from} ${to}`

const conversationOf = ({ tenantId, from, to }: MessageSnapshot): string => `${tenantId} ${from} → ${to}`
