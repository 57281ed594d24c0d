import { errorName } from '../core/log.ts'
import { CALLS_BESIDE_SENDS } from '../core/limits.ts'
import { MESSAGE_FAILURES, type MessageFailure, rejected } from '../core/message-failure.ts'
import { isConstraint } from '../db/gate.ts'
import type { TenantEntry } from '../provider/directory.ts'
import type { TokenResult } from '../provider/tokens.ts'
import { ACCEPT, ACCEPT_ONCE, type KeptRequest, type NewMessage, type Stored, storedOf } from './accept-rows.ts'
import { Attempts } from './attempts.ts'
import { CallSlots } from './call-slots.ts'
import type { SendingContext } from './context.ts'
import { enterQueue } from './enter-queue.ts'
import { type Entry, type NumberQueue, newEntry } from './number-queue.ts'
import { NumberLookups } from './number-lookups.ts'
import { findOrphanedJob, undoClaim } from './orphans.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { publishStatus } from './publish-status.ts'
import { Quarantine, findQuarantined } from './quarantine.ts'
import { readQueue } from './read-queue.ts'
import { findOrphans } from './recover.ts'
import type { Begun } from './scheduler-tasks.ts'
import { ScheduledMessages } from './scheduled-messages.ts'
import { Scheduler } from './scheduler.ts'
import type { Sender } from './sender.ts'

const TRY_AGAIN_MS = 1000
const FIND_ORPHANS_EVERY_MS = 60_000
/** How many messages of a queue are ended at once when no extension can send them. */
const MAX_ENDED_AT_ONCE = 64

/** Sends accepted messages. README.md in this folder explains how. */
export class SendEngine {
  readonly scheduler: Scheduler
  readonly attempts: Attempts
  readonly quarantine: Quarantine
  readonly scheduled: ScheduledMessages
  readonly #numberLookups: NumberLookups
  /** The newest send job. A number lookup that begins now is final for it and all older ones. */
  newestJobSeq = 0
  readonly #idle: (() => void)[] = []

  constructor(readonly context: SendingContext) {
    const { config, clock } = context
    const slots = new CallSlots(clock, config.callsAtOnce - CALLS_BESIDE_SENDS, context.requests)
    this.scheduler = new Scheduler(context, slots, {
      begin: (begun) => void this.attempts.begin(begun).finally(() => this.#checkIdle()),
      readMore: (queue) => (void this.#readMore(queue), null),
      withoutSender: (queue, entry, sender) => (this.#withoutSender(queue, entry, sender), null),
      refused: (queue, entry) => (this.#refused(queue, entry), null),
      left: () => this.#checkIdle(),
    })
    this.attempts = new Attempts(context, this.scheduler)
    this.quarantine = new Quarantine(clock.steady() + config.reconcileSettleMs)
    this.scheduled = new ScheduledMessages(this)
    this.#numberLookups = new NumberLookups(context, (tenantId) => this.scheduler.wake(tenantId))
  }

  start(): void {
    this.scheduler.start()
    this.scheduled.start()
    this.#watch()
  }

  /** Begins nothing more. Resolves when all calls have ended and their outcomes are stored. */
  async stop(): Promise<void> {
    this.scheduler.stop()
    await this.scheduled.stop()
    if (this.scheduler.slots.inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Call it when the tenant's extensions, numbers or status have changed: its messages may be waiting for that. */
  wake(tenantId: string): void {
    this.scheduler.wake(tenantId)
  }

  /** Accepts a message. Resolves when it is on disk, with its job, and with its first attempt if that could begin at once. */
  async accept(message: NewMessage): Promise<KeptRequest> {
    const { messageId, tenantId, from, to } = message
    this.scheduler.slots.noteRequest()
    const begun = this.scheduler.reserve(tenantId, from, messageId, to)
    const queue = begun?.entry.queue ?? this.scheduler.queues.of(tenantId, from)
    const entry = begun?.entry ?? newEntry(queue, messageId, to, 0)
    if (begun === null) queue.arriving++
    try {
      const opened = this.attempts.openRow(entry, begun?.extensionId ?? null)
      const operation = message.idempotencyKey === null ? ACCEPT : ACCEPT_ONCE
      const stored = storedOf(message, await this.context.database.writer.row(operation, { ...message, ...opened }))
      entry.jobSeq = stored.jobSeq ?? 0
      this.newestJobSeq = Math.max(this.newestJobSeq, entry.jobSeq)
      if (stored.jobSeq !== null) publishStatus(this.context, outboundOf(message), 'queued', opened.now)
      if (begun !== null && stored.attemptSeq !== null)
        void this.attempts.run(begun, stored.attemptSeq, opened, outboundOf(message))
      else this.#arrived(entry, begun, stored)
      if (begun === null) queue.arriving--
      return stored
    } catch (error) {
      void this.#acceptFailed(entry, begun, error)
      throw error
    }
  }

  /** The job of a message that waits in memory; null if the message is not in memory or its attempt is open. */
  jobSeqOf(messageId: string): number | null {
    const entry = this.scheduler.entries.get(messageId)
    return entry === undefined || entry.attempt !== null ? null : entry.jobSeq
  }

  /** Call it when other code has ended a waiting message. */
  forget(messageId: string): void {
    const entry = this.scheduler.entries.get(messageId)
    if (entry?.queue.waiting.includes(entry) === true) this.scheduler.ended(entry)
  }

  #watch(): void {
    this.context.clock.after(FIND_ORPHANS_EVERY_MS, () => {
      if (this.scheduler.isStopped) return
      this.#findLost()
        .catch((error: unknown) =>
          this.context.log.error({ error: errorName(error) }, 'cannot search for orphans, trying again'),
        )
        .finally(() => this.#watch())
    })
  }

  async #findLost(): Promise<void> {
    await findOrphans(this)
    if (this.quarantine.isActive) await findQuarantined(this.context, this.quarantine)
  }

  /** Puts a committed message into its queue, because its attempt was not opened. */
  #arrived(entry: Entry, begun: Begun | null, stored: Stored): void {
    if (begun !== null) this.attempts.release(begun)
    if (stored.jobSeq === null) return this.scheduler.ended(entry)
    enterQueue(this.scheduler, entry)
  }

  /** A message whose commit failed may be stored nevertheless. It is then sent in its turn, although its request failed. */
  async #acceptFailed(entry: Entry, begun: Begun | null, error: unknown): Promise<void> {
    // A violated constraint stores nothing, and the id may be another message's. Without an extension no attempt was opened.
    const mayBeStored = !isConstraint(error)
    if (mayBeStored && begun !== null) await undoClaim(this.context, entry, error)
    if (mayBeStored) entry.jobSeq = (await findOrphanedJob(this.context, entry)) ?? 0
    if (begun !== null) this.attempts.release(begun)
    else entry.queue.arriving--
    if (entry.jobSeq === 0) this.scheduler.ended(entry)
    else this.scheduler.add(entry)
  }

  async #readMore(queue: NumberQueue): Promise<void> {
    queue.isReading = true
    try {
      await readQueue(this.context.database.gate, this.scheduler.entries, queue)
    } catch (error) {
      queue.hasMore = true
      this.context.log.error({ error: errorName(error) }, 'messages that wait cannot be read, trying again')
      await new Promise<void>((resolve) => this.context.clock.after(TRY_AGAIN_MS, resolve))
    } finally {
      queue.isReading = false
      this.scheduler.touch(queue)
    }
  }

  #withoutSender(queue: NumberQueue, entry: Entry, sender: Exclude<Sender, { type: 'ready' }>): void {
    if (sender.type === 'wait') return this.#wait(queue, sender.reason)
    if (sender.type === 'missing' && !this.#numberLookups.isFinalFor(entry, this.newestJobSeq)) return
    void this.#endAll(queue, sender.type, sender.failure)
  }

  #wait(queue: NumberQueue, reason: Extract<Sender, { type: 'wait' }>['reason']): void {
    const { directory, tokens } = this.context
    const { tenantId, number } = queue
    if (reason === 'loading') void this.#touchAfter(queue, directory.tenant(tenantId))
    const extensionId = directory.known(tenantId)?.numbers.get(number)
    if (reason !== 'reauthorization' || extensionId === undefined) return
    void this.#touchAfter(queue, tokens.access({ tenantId, extensionId }))
  }

  async #touchAfter(queue: NumberQueue, work: Promise<TokenResult | TenantEntry>): Promise<void> {
    try {
      const result = await work
      // A failed refresh is tried again by itself, and its end wakes the tenant.
      if ('type' in result && result.type === 'waiting') return
      this.scheduler.touch(queue)
    } catch (error) {
      this.context.log.error(
        { tenantId: queue.tenantId, error: errorName(error) },
        'a queue cannot go on, trying again',
      )
      this.context.clock.after(TRY_AGAIN_MS, () => this.scheduler.touch(queue))
    }
  }

  /** The provider refused the number for this extension. The refusal is final if a number lookup finds the number there again. */
  #refused(queue: NumberQueue, entry: Entry): void {
    if (entry.refusal === null || !this.#numberLookups.isFinalFor(entry, this.newestJobSeq)) return
    const { message, code } = entry.refusal.failure
    queue.remove(entry)
    queue.ending++
    void this.#endOne(queue, entry, rejected(message, code))
  }

  /** Ends entries that no extension can send, some at a time. If the number is missing: only those for which a lookup is final. */
  async #endAll(queue: NumberQueue, type: 'missing' | 'failed', failure: MessageFailure): Promise<void> {
    const ending: Entry[] = []
    while (ending.length < MAX_ENDED_AT_ONCE) {
      const entry = queue.waiting.find(({ to }) => !this.scheduler.entries.isOpen(queue.number, to))
      if (entry === undefined) break
      if (type === 'missing' && !this.#numberLookups.isFinalFor(entry, this.newestJobSeq)) break
      ending.push(entry)
      queue.remove(entry)
      queue.ending++
    }
    await Promise.all(ending.map((entry) => this.#endOne(queue, entry, failureFor(entry, failure))))
  }

  async #endOne(queue: NumberQueue, entry: Entry, failure: MessageFailure): Promise<void> {
    try {
      await this.attempts.end(entry, failure)
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'a message cannot be ended, trying again')
      await new Promise<void>((resolve) => this.context.clock.after(TRY_AGAIN_MS, resolve))
      this.scheduler.add(entry)
    }
    queue.ending--
    this.scheduler.touch(queue)
  }

  #checkIdle(): void {
    if (this.scheduler.slots.inFlight > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** After a restore, a quarantined message may have been sent before, and no lookup has shown whether it was. */
const failureFor = (entry: Entry, failure: MessageFailure): MessageFailure =>
  entry.isQuarantined ? MESSAGE_FAILURES.unconfirmed : failure

/** The message as its commit stores it when its first attempt begins with it. */
const outboundOf = ({ messageId: id, tenantId, appId, from, to, body, now }: NewMessage): OutboundMessage => ({
  id,
  tenantId,
  appId,
  from,
  to,
  body,
  status: 'queued',
  createdAt: now,
  sendAt: null,
  absents: 0,
  refusals: 0,
})
