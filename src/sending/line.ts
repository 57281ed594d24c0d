import type { ProviderFailure } from '../provider/provider.ts'

/** A message that has not ended, in its place in its line. */
export interface Entry {
  readonly messageId: string
  readonly line: Line
  readonly to: string
  /** Its place: the order of acceptance. 0 while its message is being committed. */
  jobSeq: number
  /** The open attempt; null while it waits. */
  attempt: OpenAttempt | null
  /** After a restore: it is looked up before it may be sent. */
  isQuarantined: boolean
  /** It waits on its own account until then, monotonic time, and holds only its conversation. */
  heldUntil: number
  /** The provider refused its number for this extension: the number may have moved to another one. */
  refusal: Refusal | null
}

export interface OpenAttempt {
  seq: number
  extensionId: string
  /** Steady time, and the same by the provider's clock if it was known. */
  startedAt: number
  providerStartedAt: number | null
  /** Of an unknown outcome, steady time: absence counts from then on. Null while the call runs. */
  absentAfter: number | null
  /** It was begun by this run of the process. */
  isOwn: boolean
}

export interface Refusal {
  extensionId: string
  failure: ProviderFailure
  /** Monotonic time. */
  at: number
}

const MAX_WAITING_IN_MEMORY = 10_000
/** Entries that are read at a time, and kept of messages as they are accepted. */
export const READ_AHEAD = 256

/**
 * The messages of a tenant's number that have not ended, in the order of acceptance. Those that wait are kept in memory as far
 * as they are needed; the others are read from the job table behind them.
 */
export class Line {
  /** Ordered by `jobSeq`. */
  readonly waiting: Entry[] = []
  /** Its entries that have an open attempt, or whose attempt is being opened. */
  readonly open = new Set<Entry>()
  /** Messages that are being committed without an attempt: later ones must not begin before these are known. */
  arriving = 0
  /** Messages that are being ended without a call. */
  ending = 0
  /** Behind `cursor` the job table may hold entries that are not in memory. */
  hasMore: boolean
  /** The highest `jobSeq` in memory so far. */
  cursor = 0
  isReading = false
  /** The lines of its extension, while it waits for its turn among them. */
  turns: Set<Line> | null = null
  /** Nothing of it begins before then, monotonic time: its last attempt could not be opened. */
  heldUntil = 0
  /** Cancels the time at which the line is looked at again. */
  cancelAlarm: () => void = () => undefined

  constructor(
    readonly tenantId: string,
    readonly number: string,
    hasMore: boolean,
  ) {
    this.hasMore = hasMore
  }

  /** Everything that was accepted before is in memory, and nothing of it is about to begin. */
  get isFree(): boolean {
    return this.arriving === 0 && !this.hasMore && !this.isReading && !this.open.values().some(isBeginning)
  }

  /** The newest message need not be in memory before it is near its turn. */
  get isLong(): boolean {
    return this.hasMore || this.isReading || this.waiting.length >= READ_AHEAD
  }

  /** Some hours of its allowance are in memory at most. */
  get isFull(): boolean {
    return this.waiting.length >= MAX_WAITING_IN_MEMORY
  }

  get mayReadMore(): boolean {
    return this.hasMore && !this.isReading && !this.isFull
  }

  get isEmpty(): boolean {
    const entries = this.waiting.length + this.open.size + this.arriving + this.ending
    return entries === 0 && !this.hasMore && !this.isReading
  }

  /** The oldest entry that may begin: neither its conversation nor an earlier entry of its conversation holds it. */
  next(isOpen: (to: string) => boolean, now: number): Entry | null {
    const held = new Set<string>()
    for (const entry of this.waiting) {
      if (held.has(entry.to)) continue
      if (!entry.isQuarantined && !isOpen(entry.to) && entry.heldUntil <= now) return entry
      held.add(entry.to)
    }
    return null
  }

  /** Puts an entry into its place. */
  insert(entry: Entry): void {
    let place = this.waiting.length
    while (place > 0 && (this.waiting[place - 1]?.jobSeq ?? 0) > entry.jobSeq) place--
    this.waiting.splice(place, 0, entry)
    // While earlier entries may be missing, only reading moves the cursor.
    if (!this.hasMore && !this.isReading) this.cursor = Math.max(this.cursor, entry.jobSeq)
  }

  remove(entry: Entry): void {
    const place = this.waiting.indexOf(entry)
    if (place >= 0) this.waiting.splice(place, 1)
  }
}

/** Its message is committed, and its attempt is not. */
const isBeginning = ({ attempt, jobSeq }: Entry): boolean => attempt === null && jobSeq > 0

/** A conversation is a pair of numbers, whichever tenant uses it. */
export const conversationOf = (from: string, to: string): string => `${from} ${to}`

export const newEntry = (line: Line, messageId: string, to: string, jobSeq: number, isQuarantined = false): Entry => ({
  line,
  messageId,
  to,
  jobSeq,
  isQuarantined,
  attempt: null,
  heldUntil: 0,
  refusal: null,
})
