import type { ProviderFailure } from '../../provider/provider.ts'

/** A message that has not ended, in the queue of its number. */
export interface Entry {
  readonly messageId: string
  readonly queue: NumberQueue
  readonly to: string
  /** Whether it carries media. For an entry from the job table this is unknown until its message is read. */
  hasMedia: boolean
  /** The order of acceptance. 0 while the message is being committed. */
  jobSeq: number
  /** The open attempt; null while it waits. */
  attempt: OpenAttempt | null
  /** True after a restore, until a lookup has shown that it was not sent since the backup. */
  isQuarantined: boolean
  /** Monotonic time. Until then, neither this message nor later ones of its conversation start. The rest of the queue continues. */
  heldUntil: number
  /** When it was first held, epoch milliseconds; null if never. */
  heldSince: number | null
  /** Set if the provider answered that the number does not belong to the extension: another extension may have it. */
  movedNumber: MovedNumber | null
}

export interface OpenAttempt {
  seq: number
  extensionId: string
  /** Steady time, and the same moment by the provider's clock if known. */
  startedAt: number
  providerStartedAt: number | null
  /** Steady time from which a missing record means that nothing was sent. Null while the call runs. */
  absentAfter: number | null
  /** How much longer its call, and the settle time after it, may take than a text's. */
  uploadMs: number
  /** How long its call took; null while it runs, or if another process made it. */
  durationMs: number | null
  /** Whether this process started it. */
  isOwn: boolean
}

/** The provider's answer that a number does not belong to an extension; the last answer if several extensions tried. */
export interface MovedNumber {
  /** All extensions that tried. */
  extensionIds: readonly string[]
  failure: ProviderFailure
  /** Monotonic time. */
  at: number
}

/** About four hours at 40 messages a minute. */
const MAX_IN_MEMORY = 10_000
/** How many entries are read at a time. Newly accepted messages stay in memory while a queue has fewer. */
export const READ_AHEAD = 256

/**
 * The messages of a tenant's number that have not ended, in the order of acceptance. The first waiting ones are in memory;
 * the rest are read from the job table when they are needed.
 */
export class NumberQueue {
  /** In order of `jobSeq`. */
  readonly waiting: Entry[] = []
  /** The entries known to carry media. */
  readonly waitingWithMedia = new Set<Entry>()
  /** The entries that make their conversations busy: their attempt is open, or is being opened. */
  readonly busy = new Set<Entry>()
  /** How many messages are being committed without an attempt. Later messages must not begin before these are known. */
  arriving = 0
  /** The entries that are being ended without a call. If one cannot be ended, it waits again, and so does its conversation. */
  readonly ending = new Set<Entry>()
  /** Whether the job table may hold entries after `cursor` that are not in memory. */
  hasMore: boolean
  /** All entries up to this `jobSeq` have been read or added. */
  cursor = 0
  isReading = false
  /** The extension for whose turn this queue waits, with the other waiting queues. */
  waitsFor: { readonly queues: Set<NumberQueue> } | null = null
  /** Monotonic time before which none of its messages starts, because the first one's attempt could not be opened. */
  retryAt = 0
  /** Cancels the timer that touches the queue. */
  cancelAlarm: () => void = () => undefined

  constructor(
    readonly tenantId: string,
    readonly number: string,
    hasMore: boolean,
  ) {
    this.hasMore = hasMore
  }

  /** Whether all of its messages are in memory, and no attempt is still being committed. */
  get isComplete(): boolean {
    if (this.ending.size > 0) return false
    return this.arriving === 0 && !this.hasMore && !this.isReading && !this.busy.values().some(isBeingClaimed)
  }

  /** Whether new messages stay in the job table until their turn is near. */
  get isLong(): boolean {
    return this.hasMore || this.isReading || this.waiting.length >= READ_AHEAD
  }

  get mayReadMore(): boolean {
    return this.hasMore && !this.isReading && this.waiting.length + this.busy.size < MAX_IN_MEMORY
  }

  get isEmpty(): boolean {
    const entries = this.waiting.length + this.busy.size + this.arriving + this.ending.size
    return entries === 0 && !this.hasMore && !this.isReading
  }

  /** The oldest entry that may begin: it is not held, and its conversation has no earlier entry. `now`: monotonic time. */
  next(isHeld: (entry: Entry) => boolean, now: number): Entry | null {
    const passed = new Set(this.ending.values().map(({ to }) => to))
    for (const entry of this.waiting) {
      if (passed.has(entry.to)) continue
      if (entry.heldUntil <= now && !isHeld(entry)) return entry
      passed.add(entry.to)
    }
    return null
  }

  /** Inserts an entry in order of `jobSeq`. */
  insert(entry: Entry): void {
    let index = this.waiting.length
    while (index > 0 && (this.waiting[index - 1]?.jobSeq ?? 0) > entry.jobSeq) index--
    this.waiting.splice(index, 0, entry)
    if (entry.hasMedia) this.waitingWithMedia.add(entry)
    // While earlier entries may be missing, only reading moves the cursor.
    if (!this.hasMore && !this.isReading) this.cursor = Math.max(this.cursor, entry.jobSeq)
  }

  remove(entry: Entry): void {
    const index = this.waiting.indexOf(entry)
    if (index >= 0) this.waiting.splice(index, 1)
    if (entry.hasMedia) this.waitingWithMedia.delete(entry)
  }
}

/** Whether its message is committed and its attempt is being opened. */
const isBeingClaimed = ({ attempt, jobSeq }: Entry): boolean => attempt === null && jobSeq > 0

/** The key of a conversation: a pair of numbers, the same for all tenants. */
export const conversationOf = (from: string, to: string): string => `${from} ${to}`

export const newEntry = (
  queue: NumberQueue,
  messageId: string,
  to: string,
  jobSeq: number,
  isQuarantined = false,
): Entry => ({
  queue,
  messageId,
  to,
  jobSeq,
  hasMedia: false,
  isQuarantined,
  attempt: null,
  heldUntil: 0,
  heldSince: null,
  movedNumber: null,
})
