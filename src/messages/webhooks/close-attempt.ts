import type { Gateway } from '../gateway.ts'
import type { PostResult } from '../../net/outbound/webhook-poster.ts'
import { latencyClass } from '../usage/latency.ts'
import { CLOSE_ATTEMPT, CLOSE_FAILED_ATTEMPT } from './delivery-rows.ts'
import { NO_NEXT, type NextDelays, nextDelays } from './retry-schedule.ts'

/** An attempt whose row is open. */
export interface OpenDeliveryAttempt {
  seq: number
  attemptNumber: number
  /** The job that made the attempt; null if it was deleted. */
  jobSeq: number | null
  kind: string
  targetId: string
  tenantId: string
}

const GONE = 410

/** Stores the result of an attempt. The destination's retry policy decides about a failure. A trigger whose URL answers 410 is deleted. */
export async function closeAttempt(gateway: Gateway, attempt: OpenDeliveryAttempt, result: PostResult): Promise<void> {
  const { outcome, statusCode, errorClass, errorMessage, durationMs } = result
  const snippet = outcome === 'http_error' ? result.snippet : null
  const row = {
    attemptSeq: attempt.seq,
    jobSeq: attempt.jobSeq,
    outcome,
    statusCode,
    errorClass,
    errorMessage,
    snippet,
    durationMs,
    latencyMs: latencyClass(durationMs),
  }
  if (outcome === 'success') return void (await gateway.database.writer.row(CLOSE_ATTEMPT, row))
  const { clock, jobs, database } = gateway
  // The commit reads the policy, so it gets the delays of all policies.
  const delays = statusCode === GONE ? NO_NEXT : delaysAfter(gateway, attempt, result)
  const [next] = await database.writer.row(CLOSE_FAILED_ATTEMPT, {
    ...row,
    tenantId: attempt.tenantId,
    goneTriggerId: attempt.kind === 'trigger' && statusCode === GONE ? attempt.targetId : null,
    ...dueTimes(delays, clock.steady()),
  })
  const dueAt = next?.['due_at']
  if (typeof dueAt === 'number') jobs.wake('webhook_retry', attempt.targetId, attempt.tenantId, dueAt - clock.steady())
}

const MAX_UINT32 = 2 ** 32 - 1

function delaysAfter(
  { ids }: Gateway,
  { attemptNumber }: OpenDeliveryAttempt,
  { retryAfterMs }: PostResult,
): NextDelays {
  const bytes = ids.bytes(4)
  const random = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) / MAX_UINT32
  return nextDelays(attemptNumber, random, retryAfterMs)
}

function dueTimes({ short, standard }: NextDelays, now: number) {
  const dueAt = (delayMs: number | null): number | null => (delayMs === null ? null : Math.ceil(now + delayMs))
  return { shortDueAt: dueAt(short), standardDueAt: dueAt(standard) }
}
