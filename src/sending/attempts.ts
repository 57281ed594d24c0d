import { RETRY_AFTER_FAULT_MS } from '../core/limits.ts'
import { errorName } from '../core/log.ts'
import { MESSAGE_FAILURES, type MessageFailure } from '../core/message-failure.ts'
import { maskNumber } from '../core/phone.ts'
import type { Row } from '../db/connection.ts'
import type { ProviderFailure, SmsAnswer } from '../provider/provider.ts'
import { SEND_GROUP } from '../provider/quota.ts'
import type { CallResult } from '../provider/session.ts'
import { type AttemptRow, CLAIM, WHY_NOT_OPENED } from './attempt-rows.ts'
import { type OpenEntry, giveUp, storeClose, storeEnd, storeUnknown } from './attempt-store.ts'
import { callEnd, isMovedNumber, clearsBackoff } from './call-end.ts'
import type { SendingContext } from './context.ts'
import { backoffMs } from './extension-turns.ts'
import type { Entry } from './number-queue.ts'
import { type OutboundMessage, isEnded, loadMessages } from './outbound-message.ts'
import { openQuarantined } from './quarantine.ts'
import type { Reservation } from './scheduler-tasks.ts'
import type { Scheduler } from './scheduler.ts'
import { undoAttempt } from './uncertain-commits.ts'

/** After this many consecutive 503s, the cause is the message and not the extension. */
const MAX_CONSECUTIVE_503S = 5

/** Runs attempts: opens each in a commit, makes its call, stores the outcome, and tells the scheduler. */
export class Attempts {
  constructor(
    readonly context: SendingContext,
    readonly scheduler: Scheduler,
  ) {}

  /** Claims waiting entries, usually in one commit, and runs their attempts. */
  async begin(reservations: readonly Reservation[]): Promise<void> {
    const ids = reservations.map(({ entry }) => entry.messageId)
    try {
      const messages = await loadMessages(this.context.database.gate, ids)
      for (const one of reservations) void this.#beginOne(one, messages.get(one.entry.messageId))
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'messages cannot be read, trying again')
      for (const one of reservations) this.#putBack(one)
    }
  }

  /** The row of a new attempt. `now`: epoch milliseconds. */
  attemptRow({ queue, messageId, to }: Entry, extensionId: string | null, now: number): AttemptRow {
    const { clock, provider, bootId } = this.context
    const startedAt = Math.floor(clock.steady())
    const skewMs = provider.clockSkewMs()
    return {
      messageId,
      tenantId: queue.tenantId,
      extensionId,
      from: queue.number,
      to,
      bootId,
      startedAt,
      providerStartedAt: skewMs === null ? null : Math.floor(startedAt - skewMs),
      now,
    }
  }

  /** Makes the call of an attempt that is committed, and stores its outcome. Never rejects. */
  async run(reservation: Reservation, seq: number, row: AttemptRow, message: OutboundMessage): Promise<void> {
    const { entry, extensionId } = reservation
    const { startedAt, providerStartedAt } = row
    const attempt = {
      seq,
      extensionId,
      startedAt,
      providerStartedAt,
      absentAfter: null,
      durationMs: null,
      isOwn: true,
    }
    entry.attempt = attempt
    const open = { entry, attempt, message: { ...message, status: 'sending' as const } }
    try {
      await this.context.mark.noteAttempt(seq)
      await this.#finish(open, await this.#call(reservation, open))
    } catch (error) {
      const { messageId } = entry
      this.context.log.error({ messageId, error: errorName(error) }, 'an attempt failed: its outcome is looked up')
      await this.#unknown(open, null)
    } finally {
      this.scheduler.release(reservation)
    }
  }

  async #beginOne(reservation: Reservation, message: OutboundMessage | undefined): Promise<void> {
    try {
      if (message === undefined || isEnded(message.status)) await this.#drop(reservation)
      else if (reservation.entry.isQuarantined) await this.#openWithoutCall(reservation, message)
      else await this.#claimAndRun(reservation, message)
    } catch (error) {
      const { messageId } = reservation.entry
      this.context.log.error({ messageId, error: errorName(error) }, 'a message cannot be sent now, trying again')
      this.#putBack(reservation)
    }
  }

  /** Opens the attempt of a quarantined message, which a lookup closes. It takes no slot of a call and of the rate windows. */
  async #openWithoutCall(reservation: Reservation, message: OutboundMessage): Promise<void> {
    const { entry, extensionId } = reservation
    const attempt = await openQuarantined(this.context, entry, extensionId, message)
    if (attempt === null) return this.#putBack(reservation)
    this.scheduler.giveBack(reservation)
    entry.attempt = attempt
    this.scheduler.addOpen(entry)
    this.context.jobs.dueAfter('lookup', extensionId, entry.queue.tenantId, 0)
  }

  async #claimAndRun(reservation: Reservation, message: OutboundMessage): Promise<void> {
    const { entry, extensionId } = reservation
    const { clock, config, database, clockCheck } = this.context
    const row = this.attemptRow(entry, extensionId, clock.now())
    const expiredBefore = clockCheck.isTrusted ? Math.floor(clock.steady()) - config.maxQueueAgeMs : 0
    let rows: Row[] = []
    try {
      rows = await database.writer.row(CLAIM, { ...row, jobSeq: entry.jobSeq, expiredBefore })
    } catch (error) {
      await undoAttempt(this.context, entry, error)
    }
    const seq = rows[0]?.['attempt_seq']
    if (seq === undefined) await this.#notOpened(reservation, message, expiredBefore)
    else await this.run(reservation, Number(seq), row, message)
  }

  /** The message was cancelled, is too old, its recipient has opted out, or a condition changed just before the commit. */
  async #notOpened(reservation: Reservation, message: OutboundMessage, expiredBefore: number): Promise<void> {
    const reason = await this.#whyNotOpened(reservation.entry, expiredBefore)
    if (reason === 'ended') return this.#drop(reservation)
    if (reason === null) return this.#putBack(reservation)
    await giveUp(this.context, reservation.entry, message, reason)
    this.scheduler.giveBack(reservation)
    this.scheduler.forget(reservation.entry)
  }

  async #whyNotOpened({ jobSeq, queue, to }: Entry, expiredBefore: number): Promise<MessageFailure | 'ended' | null> {
    const args = [jobSeq, expiredBefore, queue.number, to, queue.tenantId]
    const [row] = (await this.context.database.gate.execute({ sql: WHY_NOT_OPENED, args })).rows
    if (row === undefined) return 'ended'
    if (row['has_expired'] === 1) return MESSAGE_FAILURES.expired
    return row['is_blocked'] === 1 ? MESSAGE_FAILURES.optedOut : null
  }

  async #call(
    reservation: Reservation,
    { attempt, message: { body: text } }: OpenEntry,
  ): Promise<CallResult<SmsAnswer>> {
    const { session, provider, clock } = this.context
    const beganAt = clock.monotonic()
    const { entry, extensionId } = reservation
    const { tenantId, number: from } = entry.queue
    const message = { from, to: entry.to, text }
    const result = await session.call({ tenantId, extensionId }, SEND_GROUP, (token) =>
      provider.sendSms(token, message),
    )
    attempt.durationMs = Math.round(clock.monotonic() - beganAt)
    this.scheduler.callReturned(reservation)
    return result
  }

  async #finish(open: OpenEntry, result: CallResult<SmsAnswer>): Promise<void> {
    const { entry } = open
    if (clearsBackoff(result)) this.scheduler.extension(open.attempt.extensionId).consecutiveFailures = 0
    const failure = result.type === 'failed' ? result.failure : null
    if (failure !== null) this.#noteFailure(open, failure)
    const end = callEnd(result)
    if (end.type === 'unknown') return this.#unknown(open, failure)
    if (end.type === 'retry') {
      await storeClose(this.context, open, end.outcome, failure)
      this.scheduler.freeConversation(entry)
      this.scheduler.add(entry)
      return
    }
    if (await storeEnd(this.context, open, end, failure)) this.scheduler.forget(entry)
    else await this.#unknown(open, null)
  }

  /** Logs a failure, and decides how long the message or its extension waits before the next call. */
  #noteFailure({ entry, attempt: { extensionId }, message }: OpenEntry, failure: ProviderFailure): void {
    this.#logFailure(entry, failure)
    if (isMovedNumber(failure)) entry.movedNumber = { extensionId, failure, at: this.context.clock.monotonic() }
    if (failure.reason === 'unavailable') this.#delayAfter503(entry, extensionId, message.consecutive503s + 1, failure)
    if (failure.reason === 'unreachable') this.#backOff(extensionId)
  }

  #delayAfter503(entry: Entry, extensionId: string, count: number, { retryAfterMs }: ProviderFailure): void {
    if (count >= MAX_CONSECUTIVE_503S) this.#hold(entry, Math.max(retryAfterMs ?? 0, backoffMs(count)))
    else if (retryAfterMs === null) this.#backOff(extensionId)
    else this.context.quota.pause(extensionId, SEND_GROUP, retryAfterMs)
  }

  /** Calls that began together fail together and count as one failure. */
  #backOff(extensionId: string): void {
    const { quota } = this.context
    if (quota.pauseMs(extensionId, SEND_GROUP) > 0) return
    quota.pause(extensionId, SEND_GROUP, backoffMs(++this.scheduler.extension(extensionId).consecutiveFailures))
  }

  /** Until `ms` have passed, neither this message nor later ones of its conversation begin; the queue goes on. */
  #hold(entry: Entry, ms: number): void {
    const { clock } = this.context
    entry.heldUntil = clock.monotonic() + ms
    clock.after(Math.ceil(ms), () => this.scheduler.touch(entry.queue))
  }

  async #unknown(open: OpenEntry, failure: ProviderFailure | null): Promise<void> {
    const { entry, attempt } = open
    entry.attempt = attempt
    const lookupMs = await storeUnknown(this.context, open, failure)
    this.context.jobs.dueAfter('lookup', attempt.extensionId, entry.queue.tenantId, lookupMs)
  }

  /** Deletes the job of a message that has ended or was erased. */
  async #drop(reservation: Reservation): Promise<void> {
    const { entry } = reservation
    await this.context.database.writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [entry.jobSeq] }])
    this.scheduler.giveBack(reservation)
    this.scheduler.forget(entry)
  }

  /** Makes the queue wait, because later messages must not begin before this one. */
  #putBack(reservation: Reservation): void {
    const { entry } = reservation
    entry.queue.retryAt = this.context.clock.monotonic() + RETRY_AFTER_FAULT_MS
    this.scheduler.giveBack(reservation)
    this.scheduler.add(entry)
  }

  #logFailure({ messageId, to }: Entry, { status, code, reason, requestId }: ProviderFailure): void {
    const fields = { messageId, to: maskNumber(to), reason, status, code, requestId }
    const text =
      reason === 'ambiguous'
        ? 'it is not known whether the provider took the message: it is looked up'
        : 'provider did not take the message'
    this.context.log.warn(fields, text)
  }
}
