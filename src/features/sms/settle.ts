import { MESSAGE_ERRORS } from '../../core/errors.ts'
import { HOUR_MS, MAX_SENDING_MS, MAX_SENDS_IN_FLIGHT, MAX_SETTLING_MS } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import type { StoredSms } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/session.ts'
import { findRecord } from './find-record.ts'
import { type Attempt, type OutboundMessage, loadOutbound } from './outbound-message.ts'
import { dropJob, store } from './record-result.ts'
import { absentVerdict } from './verdict.ts'
import { sendLaneOf } from './send-lane.ts'
import { type Look, StoreLooks } from './store-looks.ts'

/**
 * The `settle` job: an attempt whose outcome is not known is looked up in the provider's message store before
 * anything is sent again. Its lane is the extension, whose attempts share their looks.
 */
export function settleJobs(gateway: Gateway): JobKind<OutboundMessage> {
  const looks = new StoreLooks(gateway)
  return {
    name: 'settle',
    maxInFlight: MAX_SENDS_IN_FLIGHT,
    maxPerLane: MAX_PER_EXTENSION,
    load: (ids) => loadOutbound(gateway, ids),
    run: (job, message) => settle(gateway, looks, job, message),
  }
}

/** They share their looks. More would let a store that hangs take the places of all other extensions. */
const MAX_PER_EXTENSION = 16
/** Times of the looks after the attempt became unknown: soon first, then less often. */
const LOOKS_MS = [2000, 5000, 10_000, 20_000, 30_000]
const LOOK_EVERY_MS = 15_000
/** How far the provider's clock may be off ours. */
const SKEW_MS = 60_000
/** An attempt of another run was timed by another clock, which may have been an hour off ours of now. */
const OTHER_RUN_SKEW_MS = HOUR_MS + SKEW_MS
/** A last look and its result take their time too. */
const LAST_LOOK_MS = MAX_SENDING_MS - 30_000

async function settle(gateway: Gateway, looks: StoreLooks, job: Job, message: OutboundMessage): Promise<JobOutcome> {
  const { attempt } = message
  if (message.status !== 'sending' || attempt === null) return dropJob(gateway, job)
  if (attempt.outcome !== null) return backToSending(gateway, job, message)
  const { at, result: look } = await lookUp(gateway, looks, message, attempt)
  if (look.type === 'ok') {
    const found = await findRecord(gateway, message, look.value)
    if (found !== null) return conclude(gateway, job, message, attempt, found)
    if (at >= (attempt.settleAt ?? Infinity)) {
      await store(gateway, job, message, attempt, absentVerdict(attempt.number), null)
      return DONE
    }
  }
  if (cannotTell(gateway, message, attempt, look)) {
    await store(
      gateway,
      job,
      message,
      attempt,
      { status: 'failed', outcome: 'unconfirmed', rcMessageId: null, error: MESSAGE_ERRORS.unconfirmed },
      null,
    )
    return DONE
  }
  return { type: 'snooze', delayMs: nextLookMs(gateway, message, attempt, look) }
}

/** A job whose attempt has ended meanwhile goes on as a `send` job. */
async function backToSending(gateway: Gateway, job: Job, message: OutboundMessage): Promise<JobOutcome> {
  const sql = `UPDATE jobs SET kind = 'send', lane = ?2, run_at = ?3 WHERE seq = ?1`
  await gateway.database.writer.write([{ sql, args: [job.seq, sendLaneOf(message), gateway.clock.steady()] }])
  gateway.jobs.moved('send', sendLaneOf(message), message.tenantId, 0)
  return DONE
}

function lookUp(gateway: Gateway, looks: StoreLooks, message: OutboundMessage, attempt: Attempt): Promise<Look> {
  const key = { tenantId: message.tenantId, extensionId: attempt.extensionId }
  const ageMs = Math.max(0, gateway.clock.steady() - attempt.startedAt)
  const skewMs = attempt.bootId === gateway.bootId ? SKEW_MS : OTHER_RUN_SKEW_MS
  return looks.outbound(key, Math.min(attempt.startedAt, gateway.clock.now() - ageMs) - skewMs)
}

async function conclude(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  attempt: Attempt,
  found: StoredSms,
): Promise<JobOutcome> {
  const rcMessageId = found.providerMessageId
  const failed = found.messageStatus === 'SendingFailed' || found.messageStatus === 'DeliveryFailed'
  const stored = failed
    ? await store(
        gateway,
        job,
        message,
        attempt,
        { status: 'failed', outcome: 'accepted', rcMessageId, error: MESSAGE_ERRORS.rejected('sending failed', null) },
        null,
      )
    : await store(gateway, job, message, attempt, { status: 'sent', outcome: 'accepted', rcMessageId }, null)
  return stored ? DONE : { type: 'snooze', delayMs: LOOK_EVERY_MS }
}

/** The store is not there at all, or has been out of reach for too long. */
function cannotTell(
  gateway: Gateway,
  message: OutboundMessage,
  attempt: Attempt,
  look: CallResult<StoredSms[]>,
): boolean {
  if (look.type === 'ok') return false
  if (hasNoStore(look)) return true
  return gateway.clock.steady() >= endOfLooks(message, attempt)
}

/** The extension's account has no message store. */
export const hasNoStore = (look: CallResult<StoredSms[]>): boolean =>
  look.type === 'failed' && (look.failure.status === 404 || look.failure.status === 501)

/** Steady time; never before a look could have been of use. */
function endOfLooks(message: OutboundMessage, attempt: Attempt): number {
  const end = Math.min(
    attempt.startedAt + MAX_SETTLING_MS,
    (message.firstAttemptAt ?? attempt.startedAt) + LAST_LOOK_MS,
  )
  return Math.max(end, attempt.settleAt ?? end)
}

function nextLookMs(
  gateway: Gateway,
  message: OutboundMessage,
  attempt: Attempt,
  look: CallResult<StoredSms[]>,
): number {
  const now = gateway.clock.steady()
  const leftMs = Math.max(1000, endOfLooks(message, attempt) - now)
  if (look.type === 'waiting') return Math.min(Math.max(1000, look.retryInMs), leftMs)
  const settleAt = attempt.settleAt ?? now
  const since = now - attempt.startedAt
  const planned = LOOKS_MS.find((at) => at > since + 500)
  const delayMs = planned === undefined ? LOOK_EVERY_MS : planned - since
  return settleAt > now ? Math.max(100, Math.min(delayMs, settleAt - now)) : delayMs
}
