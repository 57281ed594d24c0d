import { RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { MESSAGE_FAILURES, type MessageFailure } from '../../core/message-failure.ts'
import type { Row } from '../../db/connection.ts'
import { noteOwner } from '../../provider/number-owners.ts'
import type { SmsAnswer } from '../../provider/outbound-sms.ts'
import type { ProviderFailure } from '../../provider/provider.ts'
import { SEND_GROUP } from '../../provider/quota.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import { mediaOf } from '../media/read-media.ts'
import { type AttemptRow, CLAIM, WHY_NOT_OPENED } from './attempt-rows.ts'
import { type OpenEntry, giveUp, storeClose, storeEnd, storeUnknown } from './attempt-store.ts'
import { callEnd } from './call-end.ts'
import type { CallFailures } from './call-failures.ts'
import type { SendingContext } from './context.ts'
import type { Entry } from './number-queue.ts'
import { type OutboundMessage, isEnded, loadMessages, uploadMsOf } from './outbound-message.ts'
import { openQuarantined } from './quarantine.ts'
import type { ReservationEnd, Reservations } from './reservations.ts'
import type { Reservation } from './scheduler-tasks.ts'
import { undoAttempt } from './uncertain-commits.ts'

/** Runs attempts: opens each in a commit, makes its call, stores the outcome, and tells the scheduler. */
export class Attempts {
  constructor(
    readonly context: SendingContext,
    readonly failures: CallFailures,
    readonly reservations: Reservations,
  ) {}

  /** Claims waiting entries, usually in one commit, and runs their attempts. */
  async begin(reservations: readonly Reservation[]): Promise<void> {
    const ids = reservations.map(({ entry }) => entry.messageId)
    try {
      const messages = await loadMessages(this.context.database.gate, ids)
      for (const one of reservations) void this.#beginOne(one, messages.get(one.entry.messageId))
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'messages cannot be read, trying again')
      for (const one of reservations) this.#putBackForLater(one)
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
  async run(reservation: Reservation, seq: number, row: AttemptRow, message: OutboundMessage): Promise<ReservationEnd> {
    const { entry, extensionId } = reservation
    const { startedAt, providerStartedAt } = row
    const attempt = {
      seq,
      extensionId,
      startedAt,
      providerStartedAt,
      absentAfter: null,
      uploadMs: uploadMsOf(this.context, message),
      durationMs: null,
      isOwn: true,
    }
    entry.attempt = attempt
    const open = { entry, attempt, message }
    try {
      return await this.#callAndStore(reservation, open)
    } catch (error) {
      const { messageId } = entry
      this.context.log.error({ messageId, error: errorName(error) }, 'an attempt failed: looking up its outcome')
      await this.#storeUnknown(open, null)
      return this.reservations.keepOpen(reservation)
    }
  }

  async #beginOne(reservation: Reservation, message: OutboundMessage | undefined): Promise<ReservationEnd> {
    try {
      if (message === undefined || isEnded(message.status)) return await this.#drop(reservation)
      if (reservation.entry.isQuarantined) return await this.#openWithoutCall(reservation, message)
      if (message.attachments.length > 0 && !this.#mayCarry(reservation)) return this.reservations.putBack(reservation)
      return await this.#claimAndRun(reservation, message)
    } catch (error) {
      const { messageId } = reservation.entry
      this.context.log.error({ messageId, error: errorName(error) }, 'a message cannot be sent now, trying again')
      return this.#putBackForLater(reservation)
    }
  }

  /**
   * Only now is it known that an entry from the job table has media. It continues if there is room for calls with media, so that no later
   * message of its number overtakes it; otherwise it waits in its queue, like any message with media.
   */
  #mayCarry({ entry, extensionId }: Reservation): boolean {
    if (entry.hasMedia) return true
    const { mediaCalls } = this.reservations.scheduler
    entry.hasMedia = true
    if (mediaCalls.isHeld(entry)) return false
    mediaCalls.take(entry, extensionId)
    return true
  }

  /** Opens the attempt of a quarantined message, which a lookup closes. It takes no call slot and no window slot. */
  async #openWithoutCall(reservation: Reservation, message: OutboundMessage): Promise<ReservationEnd> {
    const { entry, extensionId } = reservation
    const attempt = await openQuarantined(this.context, entry, extensionId, message)
    if (attempt === null) return this.#putBackForLater(reservation)
    this.context.jobs.wake('lookup', extensionId, entry.queue.tenantId, 0)
    return this.reservations.openWithoutCall(reservation, attempt)
  }

  async #claimAndRun(reservation: Reservation, message: OutboundMessage): Promise<ReservationEnd> {
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
    if (seq === undefined) return this.#notOpened(reservation, message, expiredBefore)
    return this.run(reservation, Number(seq), row, message)
  }

  /** The message was cancelled or is too old, its recipient has opted out, or a condition changed just before the commit. */
  async #notOpened(reservation: Reservation, message: OutboundMessage, expiredBefore: number): Promise<ReservationEnd> {
    const reason = await this.#whyNotOpened(reservation.entry, expiredBefore)
    if (reason === 'ended') return this.#drop(reservation)
    if (reason === null) return this.#putBackForLater(reservation)
    await giveUp(this.context, reservation.entry, message, reason)
    return this.reservations.drop(reservation)
  }

  async #whyNotOpened({ jobSeq, queue, to }: Entry, expiredBefore: number): Promise<MessageFailure | 'ended' | null> {
    const args = [jobSeq, expiredBefore, queue.number, to, queue.tenantId]
    const [row] = (await this.context.database.gate.execute({ sql: WHY_NOT_OPENED, args })).rows
    if (row === undefined) return 'ended'
    if (row['has_expired'] === 1) return MESSAGE_FAILURES.expired
    return row['is_blocked'] === 1 ? MESSAGE_FAILURES.optedOut : null
  }

  async #callAndStore(reservation: Reservation, open: OpenEntry): Promise<ReservationEnd> {
    const { clock } = this.context
    const beganAt = clock.monotonic()
    const { called, result } = await this.reservations.call(reservation, () => this.#call(open))
    open.attempt.durationMs = Math.round(clock.monotonic() - beganAt)
    this.failures.note(open, result)
    if (result.type === 'ok' && result.value.ownerId !== null) await this.#noteOwner(open, result.value.ownerId)
    const failure = result.type === 'ok' ? null : result.failure
    const end = callEnd(result)
    if (end.type === 'retry') {
      await storeClose(this.context, open, end.outcome, failure)
      return this.reservations.retry(called)
    }
    if (end.type !== 'unknown' && (await storeEnd(this.context, open, end, failure)))
      return this.reservations.forget(called)
    // If the end could not be stored, the answer is also unknown.
    await this.#storeUnknown(open, end.type === 'unknown' ? failure : null)
    return this.reservations.keepOpen(reservation)
  }

  async #call({ entry, attempt, message: { body: text, attachments } }: OpenEntry): Promise<CallResult<SmsAnswer>> {
    const { database, extensionCalls, provider, restoreMark } = this.context
    const { seq, extensionId } = attempt
    await restoreMark.noteAttempt(seq)
    const { tenantId, number: from } = entry.queue
    const message = { from, to: entry.to, text, media: mediaOf(database.gate, attachments) }
    return extensionCalls.make({ tenantId, extensionId }, SEND_GROUP, (token) => provider.sendSms(token, message))
  }

  /** The owner of the number's messages is stored before the message ends, so that no later lookup wrongly finds one absent. */
  async #noteOwner({ entry: { queue }, attempt: { extensionId } }: OpenEntry, ownerId: string): Promise<void> {
    const { database, directory } = this.context
    const { tenantId, number } = queue
    // If it cannot be stored, the next answer has it again.
    await noteOwner({ orm: database.orm, directory }, { tenantId, extensionId }, { number, ownerId }).catch(
      () => undefined,
    )
  }

  async #storeUnknown(open: OpenEntry, failure: ProviderFailure | null): Promise<void> {
    const { entry, attempt } = open
    entry.attempt = attempt
    const lookupMs = await storeUnknown(this.context, open, failure)
    this.context.jobs.wake('lookup', attempt.extensionId, entry.queue.tenantId, lookupMs)
  }

  /** Deletes the job of a message that has ended or was erased. */
  async #drop(reservation: Reservation): Promise<ReservationEnd> {
    const sql = 'DELETE FROM jobs WHERE seq = ?1'
    await this.context.database.writer.write([{ sql, args: [reservation.entry.jobSeq] }])
    return this.reservations.drop(reservation)
  }

  /** Makes the queue wait, because later messages must not begin before this one. */
  #putBackForLater(reservation: Reservation): ReservationEnd {
    reservation.entry.queue.retryAt = this.context.clock.monotonic() + RETRY_AFTER_FAULT_MS
    return this.reservations.putBack(reservation)
  }
}
