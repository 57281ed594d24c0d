import { errorName } from '../core/log.ts'
import { MESSAGE_FAILURES, type MessageFailure } from '../core/message-failure.ts'
import { maskNumber } from '../core/phone.ts'
import type { AcceptedSms, ProviderFailure } from '../provider/provider.ts'
import type { CallResult } from '../provider/session.ts'
import { CLAIM, type OpenRow, WHY_NOT_OPENED } from './attempt-rows.ts'
import { type OpenEntry, giveUp, storeClose, storeEnd, storeUnknown } from './attempt-store.ts'
import { callEnd, isMovedNumber, wasAnswered } from './call-end.ts'
import type { SendingContext } from './context.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'
import { undoClaim } from './orphans.ts'
import { type OutboundMessage, isEnded, loadMessages } from './outbound-message.ts'
import { publishStatus } from './publish-status.ts'
import type { Begun } from './scheduler-tasks.ts'
import type { Scheduler } from './scheduler.ts'
import { backoffMs } from './extension-queue.ts'

/** How long a queue waits after the commit has refused to open an attempt that the scheduler allowed. */
const CLAIM_AGAIN_MS = 1000
/** After so many 503 in a row, the cause is the message and not the extension. */
const MAX_REFUSALS = 5

/** Runs attempts: opens each in a commit, makes its call, stores the outcome, and tells the scheduler. */
export class Attempts {
  constructor(
    readonly context: SendingContext,
    readonly scheduler: Scheduler,
  ) {}

  /** Opens attempts for waiting entries, all in one commit. */
  async begin(begun: readonly Begun[]): Promise<void> {
    const ids = begun.map(({ entry }) => entry.messageId)
    const messages = await loadMessages(this.context.database.gate, ids).catch((error: unknown) => {
      this.context.log.error({ error: errorName(error) }, 'messages cannot be read, trying again')
      return null
    })
    for (const one of begun) {
      const message = messages?.get(one.entry.messageId)
      if (messages === null) this.#putBack(one, CLAIM_AGAIN_MS)
      else void this.#beginOne(one, message).catch((error: unknown) => this.#failed(one, error))
    }
  }

  /** The row of the commit that opens an attempt. */
  openRow({ queue, messageId, to }: Entry, extensionId: string | null): OpenRow {
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
      now: clock.now(),
    }
  }

  /** Makes the call of an attempt that is committed, and stores its outcome. Never rejects. */
  async run(begun: Begun, attemptSeq: number, opened: OpenRow, message: OutboundMessage): Promise<void> {
    const { entry, extensionId } = begun
    const { startedAt, providerStartedAt } = opened
    const attempt = { seq: attemptSeq, extensionId, startedAt, providerStartedAt, absentAfter: null, isOwn: true }
    entry.attempt = attempt
    const open = { entry, attempt, message }
    try {
      if (message.status === 'queued') publishStatus(this.context, message, 'sending', opened.now)
      await this.context.mark.noteAttempt(attemptSeq)
      const result = await this.#call(begun, message)
      await this.#finish(begun, { ...open, message: { ...message, status: 'sending' } }, result)
    } catch (error) {
      const { messageId } = entry
      this.context.log.error({ messageId, error: errorName(error) }, 'an attempt failed: its outcome is looked up')
      await this.#unknown(open, null)
    } finally {
      this.scheduler.left(begun)
    }
  }

  /** Frees the slots of an attempt that was not opened, or whose call was never made. */
  release(begun: Begun): void {
    const { entry, extensionId, mark } = begun
    this.context.quota.giveBack(entry.queue.number, extensionId, mark)
    this.scheduler.closed(entry)
    this.scheduler.left(begun)
  }

  async #beginOne(begun: Begun, message: OutboundMessage | undefined): Promise<void> {
    const { entry, extensionId } = begun
    if (message === undefined || isEnded(message.status)) return this.#drop(begun)
    const opened = this.openRow(entry, extensionId)
    const { clock, config, database } = this.context
    const expiredBefore = Math.floor(clock.steady()) - config.maxQueueAgeMs
    const claim = { ...opened, jobSeq: entry.jobSeq, expiredBefore }
    const rows = await database.writer.row(CLAIM, claim).catch((error: unknown) => {
      return undoClaim(this.context, entry, error)
    })
    const attemptSeq = rows[0]?.['attempt_seq']
    if (attemptSeq === undefined) return this.#notOpened(begun, message, expiredBefore)
    await this.run(begun, Number(attemptSeq), opened, message)
  }

  /** The message is too old, its recipient has opted out, or a condition changed just before the commit. */
  async #notOpened(begun: Begun, message: OutboundMessage, expiredBefore: number): Promise<void> {
    const { entry } = begun
    const failure = await this.#failureOf(entry, message, expiredBefore)
    if (failure === null) return this.#putBack(begun, CLAIM_AGAIN_MS)
    await giveUp(this.context, entry, message, failure)
    this.release(begun)
    this.scheduler.ended(entry)
  }

  async #failureOf(
    { jobSeq, queue, to }: Entry,
    { tenantId }: OutboundMessage,
    expiredBefore: number,
  ): Promise<MessageFailure | null> {
    const args = [jobSeq, expiredBefore, queue.number, to, tenantId]
    const [row] = (await this.context.database.gate.execute({ sql: WHY_NOT_OPENED, args })).rows
    if (row?.['has_expired'] === 1) return MESSAGE_FAILURES.expired
    return row?.['is_blocked'] === 1 ? MESSAGE_FAILURES.optedOut : null
  }

  async #call({ entry, extensionId, mark }: Begun, { body: text }: OutboundMessage): Promise<CallResult<AcceptedSms>> {
    const { session, provider, quota } = this.context
    const { tenantId, number: from } = entry.queue
    const message = { from, to: entry.to, text }
    const result = await session.call({ tenantId, extensionId }, 'medium', (token) => provider.sendSms(token, message))
    quota.answered(from, extensionId, mark)
    this.scheduler.answered(entry)
    return result
  }

  async #finish(begun: Begun, open: OpenEntry, result: CallResult<AcceptedSms>): Promise<void> {
    const failure = result.type === 'failed' ? result.failure : null
    if (failure !== null) this.#logFailure(open, failure)
    this.#learn(begun, open.message, result)
    const end = callEnd(result)
    if (end.type === 'unknown') return this.#unknown(open, failure)
    if (end.type === 'retry') {
      await storeClose(this.context, open, end.outcome, failure)
      this.scheduler.closed(open.entry)
      this.scheduler.add(open.entry)
      return
    }
    if (await storeEnd(this.context, open, end, failure)) this.scheduler.ended(open.entry)
    else await this.#unknown(open, null)
  }

  /** Applies a result to the pauses of the extension and to the message's next attempt. */
  #learn({ entry, extensionId }: Begun, { refusals }: OutboundMessage, result: CallResult<unknown>): void {
    const { quota, clock } = this.context
    const extension = this.scheduler.extension(extensionId)
    if (wasAnswered(result)) extension.failures = 0
    if (result.type !== 'failed') return
    const { failure } = result
    if (isMovedNumber(failure)) entry.refusal = { extensionId, failure, at: clock.monotonic() }
    if (failure.reason === 'unavailable' && refusals + 1 >= MAX_REFUSALS)
      return this.#hold(entry, Math.max(failure.retryAfterMs ?? 0, backoffMs(refusals + 1)))
    if (failure.reason === 'unavailable' && failure.retryAfterMs !== null)
      return quota.pause(extensionId, 'medium', failure.retryAfterMs)
    if (failure.reason !== 'unavailable' && failure.reason !== 'unreachable') return
    // Calls that began together fail together and count as one failure.
    if (quota.pauseMs(extensionId, 'medium') > 0) return
    quota.pause(extensionId, 'medium', backoffMs(++extension.failures))
  }

  async #unknown(open: OpenEntry, failure: ProviderFailure | null): Promise<void> {
    const { entry, attempt } = open
    entry.attempt = attempt
    const lookupMs = await storeUnknown(this.context, open, failure)
    this.context.jobs.scheduled('lookup', attempt.extensionId, entry.queue.tenantId, lookupMs)
  }

  /** Deletes the job of a message that has ended or was erased. */
  async #drop(begun: Begun): Promise<void> {
    const { jobSeq } = begun.entry
    await this.context.database.writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [jobSeq] }])
    this.release(begun)
    this.scheduler.ended(begun.entry)
  }

  #failed(begun: Begun, error: unknown): void {
    const { messageId } = begun.entry
    this.context.log.error({ messageId, error: errorName(error) }, 'a message cannot be sent now, trying again')
    this.#putBack(begun, CLAIM_AGAIN_MS)
  }

  /** Makes the queue wait, because later messages must not begin before this one. */
  #putBack(begun: Begun, holdMs: number): void {
    const { queue } = begun.entry
    queue.heldUntil = this.context.clock.monotonic() + holdMs
    this.release(begun)
    this.scheduler.add(begun.entry)
  }

  /** Makes the entry wait. It holds its own conversation, and nothing else. */
  #hold(entry: Entry, ms: number): void {
    const { clock } = this.context
    entry.heldUntil = clock.monotonic() + ms
    clock.after(Math.ceil(ms), () => this.scheduler.touch(entry.queue))
  }

  #logFailure({ entry }: { entry: Entry; attempt: OpenAttempt }, failure: ProviderFailure): void {
    const { status, code, reason, requestId } = failure
    const { messageId, to } = entry
    this.context.log.warn(
      { messageId, to: maskNumber(to), reason, status, code, requestId },
      'provider did not take the message',
    )
  }

  /** Ends a waiting entry without a call. */
  async end(entry: Entry, failure: MessageFailure): Promise<void> {
    const message = (await loadMessages(this.context.database.gate, [entry.messageId])).get(entry.messageId)
    if (message !== undefined) await giveUp(this.context, entry, message, failure)
    this.scheduler.ended(entry)
  }
}
