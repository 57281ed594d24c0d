import { errorName } from '../../core/log.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { isConstraint } from '../../db/gate.ts'
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
import { type Verdict, retryDelayMs, verdictOf } from './verdict.ts'

export interface AttemptKey extends Pick<Attempt, 'id' | 'extensionId' | 'number'> {
  /** Of a first attempt that has no row of its own: when it began, steady time. */
  begunAt?: number
}

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
  const lane = verdict.status === 'sending' ? sendLaneOf({ ...message, status: 'sending' }) : null
  const isFirst = attempt.begunAt !== undefined
  const { id: messageId } = message
  // The first is the way of nearly every message, and needs little of what the others do.
  const changed = await (isFirst && verdict.status === 'sent'
    ? writeUntilStored(gateway, FIRST_SENT, { messageId, attemptId: attempt.id, rcMessageId: verdict.rcMessageId, now })
    : storeEnd(gateway, { job, message, attempt, verdict, failure, lane, delayMs, now }))
  if (changed === null) return false
  if (verdict.status === 'sending') gateway.jobs.moved('send', lane ?? '', message.tenantId, delayMs)
  else if (changed) publishStatus(gateway, message, verdict.status, now, published(verdict))
  return true
}

/** How an attempt ended. */
interface AttemptEnd {
  job: Job
  message: OutboundMessage
  attempt: AttemptKey
  verdict: Verdict
  failure: ProviderFailure | null
  /** Where and when it is tried again, if it is. */
  lane: string | null
  delayMs: number
  /** Epoch milliseconds. */
  now: number
}

function storeEnd(gateway: Gateway, end: AttemptEnd): Promise<boolean | null> {
  const { message, attempt, verdict } = end
  const row = resultRow(end, gateway.clock.steady())
  const isOver = verdict.status !== 'sending'
  if (attempt.begunAt === undefined) return writeUntilStored(gateway, isOver ? RESULT : RETRY, row)
  const first = { ...row, ...factsOf(gateway, message, attempt.begunAt) }
  return writeUntilStored(gateway, isOver ? FIRST_FAILED : FIRST_RETRY, first)
}

/** `endedAt`: steady time. */
const resultRow = (end: AttemptEnd, endedAt: number): ResultRow => ({
  messageId: end.message.id,
  attemptId: end.attempt.id,
  jobSeq: end.job.seq,
  outcome: end.verdict.outcome,
  status: end.verdict.status,
  rcMessageId: end.verdict.status === 'sending' ? null : end.verdict.rcMessageId,
  error: end.verdict.status === 'failed' ? end.verdict.error : null,
  lane: end.lane,
  nextAt: end.lane === null ? null : Math.ceil(endedAt + end.delayMs),
  httpStatus: end.failure?.status ?? null,
  code: end.failure?.code ?? null,
  requestId: end.failure?.requestId ?? null,
  now: end.now,
  endedAt,
})

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
