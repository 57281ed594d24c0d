import { maskNumber } from '../../core/phone.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import type { SmsAnswer } from '../../provider/outbound-sms.ts'
import type { ProviderFailure } from '../../provider/provider.ts'
import { SEND_GROUP, asksForNoPause } from '../../provider/quota.ts'
import type { OpenEntry } from './attempt-store.ts'
import { isForbidden, isMovedNumber } from './call-end.ts'
import type { SendingContext } from './context.ts'
import { backoffMs } from './extension-turns.ts'
import type { Entry } from './number-queue.ts'
import type { Scheduler } from './scheduler.ts'

/** After this many consecutive turnaways, the message is the cause and not the extension. */
const MAX_CONSECUTIVE_TURNAWAYS = 5

/** Decides how long a message or its extension waits after a call that failed. `call-end.ts` decides what happens to the message. */
export class CallFailures {
  constructor(
    readonly context: SendingContext,
    readonly scheduler: Scheduler,
  ) {}

  /** Ends the extension's backoff, or logs the failure and sets the pause that follows it. */
  note(open: OpenEntry, result: CallResult<SmsAnswer>): void {
    const { tenantId } = open.entry.queue
    const { extensionId } = open.attempt
    const extension = this.scheduler.extension(extensionId)
    if (clearsBackoff(result)) {
      extension.reached()
      if (!endsForbidden(result)) this.context.directory.refusals.clear({ tenantId, extensionId }, 'send')
    }
    if (result.type === 'failed' && asksForNoPause(result.failure)) extension.isProbed = true
    if (result.type === 'failed') this.#noteFailure(open, result.failure)
  }

  #noteFailure({ entry, attempt: { extensionId }, message }: OpenEntry, failure: ProviderFailure): void {
    this.#log(entry, failure)
    if (failure.reason === 'intercepted' || isForbidden(failure))
      this.#noteRefusal(entry.queue.tenantId, extensionId, failure)
    if (isMovedNumber(failure)) this.#noteMoved(entry, extensionId, failure)
    if (isTurnaway(failure)) this.#delayAfterTurnaway(entry, extensionId, message.consecutiveTurnaways + 1, failure)
    if (failure.reason === 'unreachable') this.#backOff(extensionId)
  }

  #noteMoved(entry: Entry, extensionId: string, failure: ProviderFailure): void {
    const extensionIds = [...(entry.movedNumber?.extensionIds ?? []), extensionId]
    entry.movedNumber = { extensionIds, failure, at: this.context.clock.monotonic() }
  }

  /** For the doctor, health and the alert, which name the fix. */
  #noteRefusal(tenantId: string, extensionId: string, failure: ProviderFailure): void {
    const { directory, clock } = this.context
    directory.refusals.note({ tenantId, extensionId, step: 'send', failure }, clock.now())
  }

  #log({ messageId, to }: Entry, { status, code, reason, requestId }: ProviderFailure): void {
    const fields = { messageId, to: maskNumber(to), reason, status, code, requestId }
    const text =
      reason === 'ambiguous'
        ? 'it is not known whether the provider accepted the message: looking it up'
        : 'the provider did not accept the message'
    this.context.log.warn(fields, text)
  }

  #delayAfterTurnaway(entry: Entry, extensionId: string, count: number, { retryAfterMs }: ProviderFailure): void {
    if (count >= MAX_CONSECUTIVE_TURNAWAYS) this.#hold(entry, count, Math.max(retryAfterMs ?? 0, backoffMs(count)))
    else if (retryAfterMs === null) this.#backOff(extensionId)
    else this.context.quota.pauseAsAnnounced(extensionId, SEND_GROUP, retryAfterMs)
  }

  /** Until `ms` have passed, neither this message nor later ones of its conversation start. The rest of the queue continues. */
  #hold(entry: Entry, count: number, ms: number): void {
    const { clock } = this.context
    if (count === MAX_CONSECUTIVE_TURNAWAYS) entry.heldSince = null
    entry.heldSince ??= clock.now()
    entry.heldUntil = clock.monotonic() + ms
    clock.after(Math.ceil(ms), () => this.scheduler.touch(entry.queue))
  }

  /** Calls that began together fail together and count as one failure. */
  #backOff(extensionId: string): void {
    const { clock, quota } = this.context
    if (quota.pauseMs(extensionId, SEND_GROUP) > 0) return
    const extension = this.scheduler.extension(extensionId)
    extension.failed(clock.now())
    quota.pause(extensionId, SEND_GROUP, backoffMs(extension.consecutiveFailures))
  }
}

/** Whether the extension may make several calls at a time again: after any answer that is not a turnaway. */
const clearsBackoff = (result: CallResult<unknown>): boolean =>
  result.type === 'ok' || (result.type === 'failed' && result.failure.status !== null && !isTurnaway(result.failure))

const endsForbidden = (result: CallResult<unknown>): boolean => result.type === 'failed' && isForbidden(result.failure)

/** A turnaway: the provider's own 503, or a refusal by something in between. Nothing was done, and the message is not to blame. */
const isTurnaway = ({ reason }: ProviderFailure): boolean => reason === 'unavailable' || reason === 'intercepted'
