import { MESSAGE_ERRORS } from '../../core/errors.ts'
import { DEFAULT_PENALTY_MS, MAX_SEND_ATTEMPTS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { isConstraint } from '../../db/gate.ts'
import type { AttemptOutcome } from '../../db/schema/messages.ts'
import type { RowOperation } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobOutcome } from '../../jobs/job.ts'
import type { AcceptedSms, ProviderFailure } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/session.ts'
import { GIVE_UP, RESULT, RETRY, type ResultRow, UNKNOWN } from './attempt-rows.ts'
import { FIRST_FAILED, FIRST_RETRY, FIRST_SENT, FIRST_UNKNOWN, type FirstAttemptFacts } from './first-attempt-rows.ts'
import { type Attempt, type OutboundMessage, tryingLeftMs } from './outbound-message.ts'
import { sendLaneOf } from './send-lane.ts'
import { publishStatus } from './publish-status.ts'

/** What a call, or a look into the provider's store, means for the message. */
export type Verdict =
  | { status: 'sent'; outcome: 'accepted'; rcMessageId: string }
  | { status: 'failed'; outcome: AttemptOutcome; rcMessageId: string | null; error: string }
  | { status: 'sending'; outcome: 'not_accepted' | 'absent'; delayMs: number }

export interface AttemptKey extends Pick<Attempt, 'id' | 'extensionId' | 'number'> {
  /** Of a first attempt that has no row of its own: when it began, steady time. */
  begunAt?: number
}

const RETRY_FIRST_MS = 2000
const RETRY_MAX_MS = 60_000
const WRITE_AGAIN_MS = 1000
const FIRST_LOOK_MS = 2000

/** Stores how a provider call ended, and publishes it. An outcome that is not known is handed over to be settled. */
export async function recordResult(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  attempt: AttemptKey,
  result: CallResult<AcceptedSms>,
): Promise<void> {
  if (result.type === 'failed' && result.failure.reason === 'ambiguous')
    return void (await handOver(gateway, job, message, attempt, result.failure))
  const failure = result.type === 'failed' ? result.failure : null
  if (failure?.reason === 'unreachable' || failure?.reason === 'unavailable') {
    gateway.quota.pause(attempt.extensionId, 'medium', retryDelayMs(attempt.number, failure))
  }
  const stored = await store(gateway, job, message, attempt, verdictOf(result, attempt.number), failure)
  if (!stored) await handOver(gateway, job, message, attempt, null)
}

/**
 * Commits a verdict and publishes it. A database that cannot write is asked again and again: until it has taken the
 * result, the attempt stays open and nothing is sent twice. False when the provider's id belongs to another message.
 */
export async function store(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  attempt: AttemptKey,
  verdict: Verdict,
  failure: ProviderFailure | null,
): Promise<boolean> {
  const now = gateway.clock.now()
  const delayMs =
    verdict.status === 'sending' ? Math.min(verdict.delayMs, tryingLeftMs(message, gateway.clock.steady())) : 0
  const result = {
    rcMessageId: verdict.status === 'sending' ? null : verdict.rcMessageId,
    error: verdict.status === 'failed' ? verdict.error : null,
  }
  const row = {
    messageId: message.id,
    attemptId: attempt.id,
    jobSeq: job.seq,
    outcome: verdict.outcome,
    status: verdict.status,
    ...result,
    lane: verdict.status === 'sending' ? sendLaneOf({ ...message, status: 'sending' }) : null,
    nextAt: verdict.status === 'sending' ? Math.ceil(gateway.clock.steady() + delayMs) : null,
    httpStatus: failure?.status ?? null,
    code: failure?.code ?? null,
    requestId: failure?.requestId ?? null,
    now,
    endedAt: gateway.clock.steady(),
  }
  const changed = await writeResult(gateway, message, attempt, row)
  if (changed === null) return false
  if (verdict.status === 'sending') gateway.jobs.moved('send', String(row.lane), message.tenantId, delayMs)
  else if (changed) publishStatus(gateway, message, verdict.status, now, published(verdict))
  return true
}

/** Leaves an attempt open and its message `sending`, for the `settle` job to look into the provider's store. */
export async function handOver(
  gateway: Gateway,
  job: Job,
  message: OutboundMessage,
  attempt: AttemptKey,
  failure: ProviderFailure | null,
): Promise<JobOutcome> {
  const settleMs =
    (failure?.status ?? 0) >= 500 ? gateway.config.reconcileSettle5xxMs : gateway.config.reconcileSettleMs
  const lookMs = Math.min(FIRST_LOOK_MS, settleMs)
  const now = gateway.clock.steady()
  const row = {
    messageId: message.id,
    attemptId: attempt.id,
    jobSeq: job.seq,
    lane: attempt.extensionId,
    settleAt: Math.ceil(now + settleMs),
    lookAt: Math.ceil(now + lookMs),
    httpStatus: failure?.status ?? null,
    code: failure?.code ?? null,
    requestId: failure?.requestId ?? null,
  }
  const { begunAt } = attempt
  await (begunAt === undefined
    ? writeUntilStored(gateway, UNKNOWN, row)
    : writeUntilStored(gateway, FIRST_UNKNOWN, { ...row, ...factsOf(gateway, message, begunAt) }))
  gateway.jobs.moved('settle', attempt.extensionId, message.tenantId, lookMs)
  return DONE
}

/** As `writeUntilStored`, by the operation that fits the verdict and the attempt. */
function writeResult(
  gateway: Gateway,
  message: OutboundMessage,
  { begunAt }: AttemptKey,
  row: ResultRow,
): Promise<boolean | null> {
  const isOver = row.status !== 'sending'
  if (begunAt === undefined) return writeUntilStored(gateway, isOver ? RESULT : RETRY, row)
  if (row.status === 'sent') return writeUntilStored(gateway, FIRST_SENT, row)
  const first = { ...row, ...factsOf(gateway, message, begunAt) }
  return writeUntilStored(gateway, isOver ? FIRST_FAILED : FIRST_RETRY, first)
}

/** What an attempt that has no row yet needs for one. */
const factsOf = (gateway: Gateway, message: OutboundMessage, startedAt: number): FirstAttemptFacts => ({
  textHash: sha256Hex(message.body),
  bootId: gateway.bootId,
  startedAt,
})

/** Ends a message that no provider call is open for, and its job. */
export async function giveUp(gateway: Gateway, job: Job, message: OutboundMessage, error: string): Promise<JobOutcome> {
  const now = gateway.clock.now()
  const rows = await gateway.database.writer.row(GIVE_UP, {
    messageId: message.id,
    jobSeq: job.seq,
    error,
    now,
    status: message.status,
    attemptId: message.attempt?.id ?? null,
  })
  if (rows.length === 0) return DONE
  if (message.status === 'queued') publishStatus(gateway, message, 'sending', now)
  publishStatus(gateway, message, 'failed', now, { error })
  return DONE
}

/** Removes a job whose message has come to its end already. */
export async function dropJob(gateway: Gateway, job: Job): Promise<JobOutcome> {
  await gateway.database.writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [job.seq] }])
  return DONE
}

/** The decision table for calls whose outcome is known. */
function verdictOf(result: CallResult<AcceptedSms>, number: number): Verdict {
  if (result.type === 'ok') return acceptedVerdict(result.value)
  if (result.type === 'gone') return failed('not_accepted', MESSAGE_ERRORS.revoked)
  if (result.type === 'waiting') return { status: 'sending', outcome: 'not_accepted', delayMs: result.retryInMs }
  const { failure } = result
  switch (failure.reason) {
    case 'unauthorized':
      return failed('not_accepted', MESSAGE_ERRORS.revoked)
    case 'rate_limited':
      return { status: 'sending', outcome: 'not_accepted', delayMs: failure.retryAfterMs ?? DEFAULT_PENALTY_MS }
    case 'unavailable':
    case 'unreachable':
      return { status: 'sending', outcome: 'not_accepted', delayMs: retryDelayMs(number, failure) }
    default:
      return failed('rejected', MESSAGE_ERRORS.rejected(failure.message, failure.code))
  }
}

function acceptedVerdict(sms: AcceptedSms): Verdict {
  if (!sms.failed) return { status: 'sent', outcome: 'accepted', rcMessageId: sms.providerMessageId }
  const error = MESSAGE_ERRORS.rejected('sending failed', null)
  return { status: 'failed', outcome: 'accepted', rcMessageId: sms.providerMessageId, error }
}

const failed = (outcome: AttemptOutcome, error: string): Verdict => ({
  status: 'failed',
  outcome,
  rcMessageId: null,
  error,
})

/** What follows when the provider's store has no trace of an attempt after the settle time. */
export const absentVerdict = (number: number): Verdict =>
  number >= MAX_SEND_ATTEMPTS
    ? failed('absent', MESSAGE_ERRORS.unconfirmed)
    : { status: 'sending', outcome: 'absent', delayMs: 0 }

/** 2 s, 4 s, 8 s … 60 s, or what the provider asks for if that is longer. */
function retryDelayMs(number: number, failure: ProviderFailure): number {
  return Math.max(Math.min(RETRY_FIRST_MS * 2 ** (number - 1), RETRY_MAX_MS), failure.retryAfterMs ?? 0)
}

function published(verdict: Exclude<Verdict, { status: 'sending' }>): { rcMessageId?: string; error?: string } {
  return verdict.status === 'sent' ? { rcMessageId: verdict.rcMessageId } : { error: verdict.error }
}

/** True when the row changed its message, null when it broke a rule of the schema. */
async function writeUntilStored<Row extends Record<string, string | number | null>>(
  gateway: Gateway,
  operation: RowOperation<Row>,
  row: Row,
): Promise<boolean | null> {
  for (;;) {
    try {
      return (await gateway.database.writer.row(operation, row)).length > 0
    } catch (error) {
      if (isConstraint(error)) return null
      gateway.log.error({ error: errorName(error) }, 'a result cannot be stored, trying again')
      await new Promise<void>((resolve) => gateway.clock.after(WRITE_AGAIN_MS, resolve))
    }
  }
}
