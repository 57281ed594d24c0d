import type { AttemptOutcome, AttemptResolution } from '../../db/schema/messages.ts'
import type { FailureCode } from '../../core/message-failure.ts'
import type { JsonRow, RowOperation } from '../../db/writer.ts'
import { IS_BLOCKED } from '../opt-outs/opt-out-rows.ts'
import { countErrors, countUsage } from '../usage/roll-up.ts'

// The writes of an attempt: one row operation for each step. Every step after the first names its attempt and changes nothing once that
// attempt is closed, so a late write of a dead process does no harm. `GIVE_UP` is for a message without an attempt.

/** The values of an attempt that a commit may open. */
export interface AttemptRow extends JsonRow {
  messageId: string
  tenantId: string
  /** Null if the message has to wait: the commit then opens no attempt. */
  extensionId: string | null
  from: string
  to: string
  bootId: string
  /** Steady time, and the same moment by the provider's clock if known. */
  startedAt: number
  providerStartedAt: number | null
  /** Epoch milliseconds. */
  now: number
}

/** A condition on the rows of `input`. */
export const ALWAYS = 'true'

/**
 * Opens attempts, and makes the checks that must be part of the commit: the tenant and the extension are active, the
 * conversation has no open attempt, and if the tenant's opt-out policy is `block`, the recipient has not opted out of the number.
 * `condition` is a further condition on the message. Returns the attempt's `seq` if all conditions hold.
 */
export const insertAttempts = (
  condition: string,
): string => `INSERT INTO send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at, provider_started_at)
  SELECT input.messageId, input.tenantId, input.extensionId, input."from", input."to", input.bootId, input.startedAt, input.providerStartedAt FROM input
  CROSS JOIN tenants ON tenants.id = input.tenantId AND tenants.status = 'active' AND NOT ${IS_BLOCKED}
  CROSS JOIN extensions ON extensions.tenant_id = input.tenantId AND extensions.extension_id = input.extensionId
    AND (extensions.status = 'active' OR extensions.status = 'refresh_failed' AND extensions.jwt IS NOT NULL)
  WHERE ${condition}
  ON CONFLICT DO NOTHING RETURNING message_id AS key, seq AS attempt_seq`

/** Changes messages to `sending` if their attempt was opened. */
const MARK_SENDING = `UPDATE messages SET status = 'sending', updated_at = input.now FROM input
  WHERE messages.id = input.messageId AND messages.status = 'queued'
    AND EXISTS (SELECT 1 FROM send_attempts AS attempt WHERE attempt.message_id = input.messageId AND attempt.closed_at IS NULL)`

const CLAIM_ATTEMPTS = insertAttempts(
  `EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = input.jobSeq AND jobs.created_at >= input.expiredBefore)
    AND EXISTS (SELECT 1 FROM messages WHERE messages.id = input.messageId AND messages.status IN ('queued', 'sending'))`,
)

/** A waiting message whose attempt is to be opened. */
export interface ClaimRow extends AttemptRow {
  jobSeq: number
  /** Steady time. Messages accepted before it have expired. */
  expiredBefore: number
}

/** Opens the attempt of a waiting message. Returns one row, with `attempt_seq`, if the checks hold. */
export const CLAIM: RowOperation<ClaimRow> = {
  key: 'messageId',
  statements: [CLAIM_ATTEMPTS, MARK_SENDING],
}

/**
 * Why `CLAIM` opened no attempt: the message has expired, or its recipient has opted out. Returns no row if the message no longer has a job
 * because it was cancelled.
 */
export const WHY_NOT_OPENED = `WITH input ("from", "to", tenantId) AS (VALUES (?3, ?4, ?5))
  SELECT jobs.created_at < ?2 AS has_expired, tenants.status = 'active' AND ${IS_BLOCKED} AS is_blocked FROM input
  CROSS JOIN tenants ON tenants.id = input.tenantId
  CROSS JOIN jobs ON jobs.seq = ?1 AND jobs.tenant_id = input.tenantId`

/** The condition of each step after the first: its attempt is still open. */
export const IS_OPEN = `EXISTS (SELECT 1 FROM send_attempts AS open WHERE open.seq = input.attemptSeq AND open.closed_at IS NULL)`

/** SQL for the roll-up: the messages that later statements of the commit will end. */
const endingMessages = (condition: string) => ({
  tenantId: 'ending.tenant_id',
  appId: 'ending.app_id',
  at: 'input.now',
  from: `FROM input CROSS JOIN messages AS ending ON ending.id = input.messageId AND ending.status IN ('queued', 'sending') WHERE ${condition}`,
})

/** How the provider answered a call. */
export interface AnswerColumns extends JsonRow {
  httpStatus: number | null
  /** The provider's code. */
  providerCode: string | null
  requestId: string | null
  /** The provider's words about a failure. */
  providerMessage: string | null
  /** How long the call took; null if this process did not make it. */
  durationMs: number | null
}

/** A lookup that closes an attempt keeps the stored facts about the call. */
const SET_ANSWER = `http_status = coalesce(input.httpStatus, http_status), error_code = coalesce(input.providerCode, error_code),
    request_id = coalesce(input.requestId, request_id), message = coalesce(input.providerMessage, message),
    duration_ms = coalesce(input.durationMs, duration_ms)`

const CLOSE_ATTEMPTS = `UPDATE send_attempts SET outcome = coalesce(send_attempts.outcome, input.outcome), closed_at = input.closedAt,
    resolution = input.resolution, ${SET_ANSWER}
  FROM input WHERE send_attempts.seq = input.attemptSeq AND send_attempts.closed_at IS NULL`

/** The end of an attempt. */
export interface CloseRow extends AnswerColumns {
  messageId: string
  attemptSeq: number
  outcome: AttemptOutcome
  /** Set only after an unknown outcome. */
  resolution: AttemptResolution | null
  /** Steady time. */
  closedAt: number
}

/** Closes an attempt. Its message and job stay, for another attempt. */
export const CLOSE: RowOperation<CloseRow> = { key: 'messageId', statements: [CLOSE_ATTEMPTS] }

/** The end of an attempt that also ends its message. */
export interface EndRow extends CloseRow {
  jobSeq: number
  status: 'sent' | 'failed'
  rcMessageId: string | null
  error: string | null
  /** The gateway's code, for the message. */
  failureCode: FailureCode | null
  /** How many text segments a sent message has; 0 for a failed one. */
  segments: number
  /** The latency class of the time since `queued`, for a sent message that was not scheduled; 0 for any other. */
  latencyMs: number
  /** Epoch milliseconds. */
  now: number
}

const ENDED = { sent: `input.status = 'sent'`, failed: `input.status = 'failed'`, segments: 'input.segments' }

const countEnded = (counts: Parameters<typeof countUsage>[0]['counts']): string =>
  countUsage({ ...endingMessages(IS_OPEN), latencyMs: 'input.latencyMs', counts })

/** Ends an attempt, its message and its job. */
export const END: RowOperation<EndRow> = {
  key: 'messageId',
  statements: [
    countEnded(ENDED),
    `UPDATE messages SET status = input.status, rc_message_id = input.rcMessageId, error = input.error, error_code = input.failureCode,
      updated_at = input.now
    FROM input WHERE messages.id = input.messageId AND messages.status IN ('queued', 'sending') AND ${IS_OPEN}`,
    `DELETE FROM jobs WHERE seq IN (SELECT input.jobSeq FROM input WHERE ${IS_OPEN})`,
    CLOSE_ATTEMPTS,
  ],
}

/** `END` for messages that failed. Their errors are counted as well. */
export const END_FAILED: RowOperation<EndRow> = {
  ...END,
  statements: [countErrors({ ...endingMessages(IS_OPEN), error: 'input.error' }), ...END.statements],
}

/** `END` for messages with media that were sent. */
export const END_MEDIA: RowOperation<EndRow> = {
  ...END,
  statements: [countEnded({ ...ENDED, media: '1' }), ...END.statements.slice(1)],
}

/** A message that ends without a call. */
export interface GiveUpRow extends JsonRow {
  messageId: string
  jobSeq: number
  error: string
  failureCode: FailureCode
  now: number
}

const HAS_NO_ATTEMPT = `NOT EXISTS (SELECT 1 FROM send_attempts AS open WHERE open.message_id = input.messageId AND open.closed_at IS NULL)`

/** Ends a message that has no open attempt, and its job. Returns one row if the message was changed. */
export const GIVE_UP: RowOperation<GiveUpRow> = {
  key: 'messageId',
  statements: [
    countErrors({ ...endingMessages(HAS_NO_ATTEMPT), error: 'input.error' }),
    countUsage({ ...endingMessages(HAS_NO_ATTEMPT), counts: { failed: '1' } }),
    `UPDATE messages SET status = 'failed', error = input.error, error_code = input.failureCode, updated_at = input.now
    FROM input WHERE messages.id = input.messageId AND messages.status IN ('queued', 'sending')
      AND ${HAS_NO_ATTEMPT} RETURNING id AS key`,
    `DELETE FROM jobs WHERE seq IN (SELECT input.jobSeq FROM input)
    AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = jobs.subject AND messages.status IN ('queued', 'sending'))`,
  ],
}

/**
 * SQL that creates lookup jobs. `select` reads `extension_id`, `tenant_id`, `due_at` and `created_at` of extensions, one row each. Skips
 * extensions that have such a job.
 */
export const ensureLookups = (
  select: string,
): string => `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT 'job_' || lower(hex(randomblob(8))), 'lookup', extension_id, tenant_id, extension_id, due_at, created_at FROM (${select}) AS wanted
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'lookup' AND lane = wanted.extension_id AND tenant_id = wanted.tenant_id)`

/** Creates the extension's lookup job, or makes the existing one due sooner. */
export const ENSURE_LOOKUP: readonly string[] = [
  `UPDATE jobs SET due_at = min(due_at, input.lookupAt) FROM input
    WHERE jobs.kind = 'lookup' AND jobs.lane = input.extensionId AND jobs.tenant_id = input.tenantId`,
  ensureLookups(`SELECT input.extensionId AS extension_id, input.tenantId AS tenant_id, min(input.lookupAt) AS due_at,
      min(input.storedAt) AS created_at
    FROM input GROUP BY input.tenantId, input.extensionId`),
]

/** An attempt of unknown outcome. */
export interface UnknownRow extends AnswerColumns {
  messageId: string
  attemptSeq: number
  tenantId: string
  extensionId: string
  /** Steady times: when a missing record begins to mean absence, and when the first lookup is due. */
  absentAfter: number
  lookupAt: number
  /** Steady time. */
  storedAt: number
}

/** Stores an unknown outcome. The attempt stays open until the extension's lookup job closes it. */
export const UNKNOWN: RowOperation<UnknownRow> = {
  key: 'messageId',
  statements: [
    `UPDATE send_attempts SET outcome = 'unknown', absent_after = input.absentAfter, ${SET_ANSWER}
    FROM input WHERE send_attempts.seq = input.attemptSeq AND send_attempts.closed_at IS NULL`,
    ...ENSURE_LOOKUP,
  ],
}
