import { sleep } from '../../core/clock.ts'
import { CALLS_BESIDE_SENDS, RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { isConstraint } from '../../db/gate.ts'
import { HAS_OPEN_ATTEMPTS } from '../../db/open-attempts.ts'
import { type ConnectionScope, listedBy } from '../../provider/directory.ts'
import { acceptOperation } from './accept-media-rows.ts'
import { type NewMessage, type Stored, storedOf } from './accept-rows.ts'
import type { AttemptRow } from './attempt-rows.ts'
import { Attempts } from './attempts.ts'
import { CallFailures } from './call-failures.ts'
import { CallSlots } from './call-slots.ts'
import { attachmentsOf } from '../media/attachments.ts'
import type { SendingContext } from './context.ts'
import { NumberLookups } from './number-lookups.ts'
import { type Entry, type NumberQueue, newEntry } from './number-queue.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { readQueue } from './read-queue.ts'
import { type ReservationEnd, Reservations } from './reservations.ts'
import type { Reservation } from './scheduler-tasks.ts'
import { ScheduledMessages } from './scheduled-messages.ts'
import { Scheduler } from './scheduler.ts'
import { findStoredJob, undoAttempt } from './uncertain-commits.ts'
import { Unsendable } from './unsendable.ts'

/** Sends accepted messages. README.md in this folder explains how. */
export class SendEngine {
  readonly scheduler: Scheduler
  readonly attempts: Attempts
  readonly reservations: Reservations
  /** Steady time. */
  readonly startedAt: number
  readonly scheduled: ScheduledMessages
  readonly numberLookups: NumberLookups
  readonly #idle: (() => void)[] = []

  constructor(readonly context: SendingContext) {
    const { config, clock } = context
    const slots = new CallSlots(clock, config.callsAtOnce - CALLS_BESIDE_SENDS, context.requests)
    this.scheduler = new Scheduler(context, slots, {
      begin: (reservations) => void this.attempts.begin(reservations),
      readMore: (queue) => void this.#readMore(queue),
      withoutSender: (queue, entry, sender) => unsendable.withoutSender(queue, entry, sender),
      numberMoved: (queue, entry, extensionId) => unsendable.numberMoved(queue, entry, extensionId),
      mediaWait: (queue) => unsendable.endWithoutMedia(queue),
      slotFreed: () => this.#checkIdle(),
    })
    this.reservations = new Reservations(this.scheduler)
    this.attempts = new Attempts(context, new CallFailures(context, this.scheduler), this.reservations)
    this.numberLookups = new NumberLookups(context, (tenantId) => this.scheduler.wake(tenantId))
    const unsendable = new Unsendable(context, this.scheduler, this.numberLookups)
    this.startedAt = clock.steady()
    this.scheduled = new ScheduledMessages(context, this.scheduler, this.numberLookups)
  }

  start(): void {
    this.scheduler.start()
    this.scheduled.start()
  }

  /** Starts nothing more. Resolves when all calls have ended and their outcomes are stored. */
  async stop(): Promise<void> {
    this.scheduler.stop()
    await this.scheduled.stop()
    if (this.scheduler.slots.inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Call it when the tenant's extensions, numbers or status have changed: its messages may be waiting for that. */
  wake(tenantId: string): void {
    this.scheduler.wake(tenantId)
  }

  /** Accepts a message. Resolves when it is on disk, with its job, and with its first attempt if that could begin immediately. */
  async accept(message: NewMessage): Promise<Stored> {
    const { messageId, tenantId, from, to } = message
    this.scheduler.slots.noteRequest()
    const reservation = message.attachments === null ? this.scheduler.reserve(tenantId, from, messageId, to) : null
    return reservation === null ? this.#acceptWaiting(message) : this.#acceptReserved(message, reservation)
  }

  /** Whether an attempt of the tenant, or of one of its extensions, is open or is being opened. */
  async hasOpenAttempts({ tenantId, extensionId }: ConnectionScope): Promise<boolean> {
    const { database, directory } = this.context
    const { rows } = await database.gate.execute({ sql: HAS_OPEN_ATTEMPTS, args: [tenantId, extensionId] })
    const tenant = directory.known(tenantId)
    // An attempt that is being opened is not in the database yet, and belongs to an extension that lists the number now.
    const isInScope = ({ attempt, queue }: Entry): boolean => {
      if (extensionId === null || tenant === undefined) return true
      if (attempt !== null) return attempt.extensionId === extensionId
      return !tenant.numbers.has(queue.number) || listedBy(tenant, extensionId, queue.number) !== undefined
    }
    const busy = [...this.scheduler.queues.ofTenant(tenantId)].flatMap((queue) => [...queue.busy])
    return rows.length > 0 || busy.some(isInScope)
  }

  /** How much longer the calls of the tenant's open attempts may take than a text's: the maximum. */
  longestUploadMs(tenantId: string): number {
    const busy = [...this.scheduler.queues.ofTenant(tenantId)].flatMap((queue) => [...queue.busy])
    return Math.max(0, ...busy.map(({ attempt }) => attempt?.uploadMs ?? 0))
  }

  /** Whether a message waits for a turn of this extension. */
  hasWaiting(extensionId: string): boolean {
    return this.scheduler.extension(extensionId).queues.size > 0
  }

  /** The job of a message that waits in memory; null if the message is not in memory or its attempt is open. */
  jobSeqOf(messageId: string): number | null {
    const entry = this.scheduler.entries.get(messageId)
    return entry === undefined || entry.attempt !== null ? null : entry.jobSeq
  }

  /** Call it when other code has ended a waiting message. */
  messageEnded(messageId: string): void {
    const entry = this.scheduler.entries.get(messageId)
    if (entry?.queue.waiting.includes(entry) === true) this.scheduler.forget(entry)
  }

  /** Stores a message with its first attempt, and begins the call. */
  async #acceptReserved(message: NewMessage, reservation: Reservation): Promise<Stored> {
    const { entry, extensionId } = reservation
    const row = this.attempts.attemptRow(entry, extensionId, message.now)
    try {
      const stored = await this.#store(message, entry, row)
      if (stored.jobSeq === null) this.reservations.drop(reservation)
      else if (stored.attemptSeq === null) this.reservations.enter(reservation)
      else void this.attempts.run(reservation, stored.attemptSeq, row, outboundOf(message))
      return stored
    } catch (error) {
      void this.#putBackIfStored(reservation, error)
      throw error
    }
  }

  /** Stores a message that has to wait. Until its job is known, no later message of its queue begins with its commit. */
  async #acceptWaiting(message: NewMessage): Promise<Stored> {
    const { messageId, tenantId, from, to } = message
    const queue = this.scheduler.queues.getOrCreate(tenantId, from)
    const entry = newEntry(queue, messageId, to, 0)
    entry.hasMedia = message.attachments !== null
    queue.arriving++
    try {
      // With null the commit opens no attempt.
      const stored = await this.#store(message, entry, this.attempts.attemptRow(entry, null, message.now))
      this.#enter(entry, stored)
      queue.arriving--
      return stored
    } catch (error) {
      void this.#addIfStored(entry, error).finally(() => queue.arriving--)
      throw error
    }
  }

  async #store(message: NewMessage, entry: Entry, row: AttemptRow): Promise<Stored> {
    const rows = await this.context.database.writer.row(acceptOperation(message), { ...message, ...row })
    const stored = storedOf(message, rows)
    if (stored.jobSeq === null) return stored
    entry.jobSeq = stored.jobSeq
    this.numberLookups.noteAccepted(stored.jobSeq)
    return stored
  }

  /** Puts a committed message into its queue. A repeated request stores nothing, so its entry is dropped. */
  #enter(entry: Entry, { jobSeq }: Stored): void {
    if (jobSeq === null) this.scheduler.forget(entry)
    else this.scheduler.enter(entry)
  }

  /** A message may be stored although its commit failed. It is then sent in its turn, although its request failed. */
  async #addIfStored(entry: Entry, error: unknown): Promise<void> {
    const jobSeq = await this.#findStoredJob(entry, error)
    if (jobSeq === null) return this.scheduler.forget(entry)
    entry.jobSeq = jobSeq
    this.scheduler.add(entry)
  }

  /** The same for a message that may have an attempt as well. */
  async #putBackIfStored(reservation: Reservation, error: unknown): Promise<ReservationEnd> {
    const { entry } = reservation
    if (!isConstraint(error)) await undoAttempt(this.context, entry, error)
    const jobSeq = await this.#findStoredJob(entry, error)
    if (jobSeq === null) return this.reservations.drop(reservation)
    entry.jobSeq = jobSeq
    return this.reservations.putBack(reservation)
  }

  /** A violated constraint stores nothing, and the id may be another message's. */
  async #findStoredJob(entry: Entry, error: unknown): Promise<number | null> {
    return isConstraint(error) ? null : findStoredJob(this.context, entry)
  }

  async #readMore(queue: NumberQueue): Promise<void> {
    queue.isReading = true
    try {
      await readQueue(this.context.database.gate, this.scheduler.entries, queue)
    } catch (error) {
      queue.hasMore = true
      this.context.log.error({ error: errorName(error) }, 'messages that wait cannot be read, trying again')
      await sleep(this.context.clock, RETRY_AFTER_FAULT_MS)
    } finally {
      queue.isReading = false
      this.scheduler.touch(queue)
    }
  }

  #checkIdle(): void {
    if (this.scheduler.slots.inFlight > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** The message before its first attempt. */
const outboundOf = ({ messageId: id, body, attachments, now }: NewMessage): OutboundMessage => ({
  id,
  body,
  attachments: attachmentsOf(attachments),
  status: 'queued',
  createdAt: now,
  sendAt: null,
  absents: 0,
  consecutiveTurnaways: 0,
})
