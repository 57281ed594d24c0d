import type { JsonRow, RowOperation } from '../../db/writer.ts'
import { COUNT_ATTEMPTS, NOTE_OUTCOMES } from '../usage/destination-rows.ts'

/** An upcoming POST. */
export interface NewDeliveryAttempt extends JsonRow {
  deliveryId: string
  tenantId: string
  kind: string
  targetId: string
  messageId: string
  correlationId: string
  url: string
  /** The secret that signs the POST, encrypted. */
  secret: string
  /** The job id of the message. It differs if the message arrived again after an erasure. */
  jobId: string
  jobSeq: number
  bootId: string
  now: number
}

/**
 * The driver returns a text up to its first NUL, and `length` counts to there as well. Without this, a URL of release 1.0.0
 * with a NUL would never match, and its job would never end.
 */
const asRead = (column: string): string => `substr(${column}, 1, length(${column}))`

/** Opens an attempt if the message is the one that made the job, and the destination has not changed. */
const openAttempt = (
  attemptNumber: string,
  job: string,
  condition: string,
): string => `INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at)
  SELECT input.deliveryId, ${attemptNumber}, input.tenantId, input.kind, input.targetId, input.messageId, input.correlationId, input.url,
    input.bootId, input.now
  FROM input CROSS JOIN messages ON messages.id = input.messageId AND messages.job_id = input.jobId
  CROSS JOIN tenants ON tenants.id = input.tenantId AND tenants.status = 'active' ${job}
  WHERE CASE input.kind
    WHEN 'trigger' THEN EXISTS (SELECT 1 FROM triggers AS t WHERE t.id = input.targetId AND t.tenant_id = tenants.id
      AND ${asRead('t.callback_url')} = input.url AND t.secret = input.secret)
    ELSE EXISTS (SELECT 1 FROM apps AS a WHERE a.id = input.targetId AND a.tenant_id = tenants.id AND a.is_active = 1
      AND ${asRead('a.webhook_url')} = input.url AND a.webhook_secret = input.secret) END ${condition}
  ON CONFLICT (delivery_id, attempt_number) DO NOTHING RETURNING delivery_id AS key, seq, attempt_number`

/**
 * Opens the first attempt. Returns one row, with its `seq`, unless this delivery was attempted before, its message was
 * erased, or its destination has changed.
 */
export const OPEN_FIRST_ATTEMPT: RowOperation<NewDeliveryAttempt> = {
  key: 'deliveryId',
  statements: [openAttempt('1', '', '')],
}

/** SQL for the retry policy of a delivery's destination. `kind` and `targetId` are expressions. */
export const policyOf = (kind: string, targetId: string): string => `CASE ${kind}
  WHEN 'trigger' THEN (SELECT webhook_retries FROM triggers WHERE id = ${targetId})
  ELSE (SELECT webhook_retries FROM apps WHERE id = ${targetId}) END`

/** Clears the failure before the attempt that was opened. Reads only the two latest attempts, because there may be thousands. */
const RESOLVE_EARLIER = `UPDATE webhook_attempts SET is_unresolved = NULL WHERE is_unresolved = 1 AND seq IN (
  SELECT (SELECT own.seq FROM webhook_attempts AS own WHERE own.delivery_id = latest.delivery_id AND own.attempt_number < latest.attempt_number
    ORDER BY own.attempt_number DESC LIMIT 1)
  FROM input CROSS JOIN webhook_attempts AS latest ON latest.seq = (SELECT own.seq FROM webhook_attempts AS own
    WHERE own.delivery_id = input.deliveryId ORDER BY own.attempt_number DESC LIMIT 1) AND latest.outcome IS NULL)`

/**
 * Opens a further attempt, under the same conditions. No attempt may be open, and the policy must not be `none` unless the
 * attempt is a redelivery.
 */
export const OPEN_FURTHER_ATTEMPT: RowOperation<NewDeliveryAttempt> = {
  key: 'deliveryId',
  statements: [
    openAttempt(
      '(SELECT coalesce(max(own.attempt_number), 0) + 1 FROM webhook_attempts AS own WHERE own.delivery_id = input.deliveryId)',
      "CROSS JOIN jobs ON jobs.seq = input.jobSeq AND jobs.kind = 'webhook_retry' AND jobs.subject = input.deliveryId",
      // Attempts never overlap, so only the latest one can be open.
      `AND (SELECT own.outcome IS NULL FROM webhook_attempts AS own WHERE own.delivery_id = input.deliveryId
        ORDER BY own.attempt_number DESC LIMIT 1) IS NOT 1
      AND (jobs.is_last = 1 OR ${policyOf('input.kind', 'input.targetId')} IN ('short', 'standard'))`,
    ),
    RESOLVE_EARLIER,
  ],
}

/** The result of an attempt. */
export interface DeliveryResult extends JsonRow {
  attemptSeq: number
  /** Null if the job was deleted. */
  jobSeq: number | null
  outcome: string
  statusCode: number | null
  errorClass: string | null
  errorMessage: string | null
  snippet: string | null
  durationMs: number
  /** A class of `latencyClass`. */
  latencyMs: number
}

const storeOutcome = (
  more: string,
): string => `UPDATE webhook_attempts SET outcome = input.outcome, status_code = input.statusCode, error_class = input.errorClass,
    error_message = input.errorMessage, response_snippet = input.snippet, duration_ms = input.durationMs${more}
  FROM input WHERE webhook_attempts.seq = input.attemptSeq AND webhook_attempts.outcome IS NULL`

const storeResults = (more = ''): string[] => [COUNT_ATTEMPTS, NOTE_OUTCOMES, storeOutcome(more)]

/** Stores a success and deletes the job in one commit. */
export const CLOSE_ATTEMPT: RowOperation<DeliveryResult> = {
  key: 'attemptSeq',
  statements: [...storeResults(), 'DELETE FROM jobs WHERE seq IN (SELECT input.jobSeq FROM input)'],
}

export interface FailedDeliveryResult extends DeliveryResult {
  /** The trigger to delete, if its URL answered 410. */
  goneTriggerId: string | null
  tenantId: string
  /** Steady time of the next attempt under each policy; null if none follows. */
  shortDueAt: number | null
  standardDueAt: number | null
}

/**
 * Stores a failure, and in the same commit turns the job into the next retry or deletes it, by the destination's policy. Returns the `due_at`
 * of the retry. An attempt erased during its POST has no retry.
 */
export const CLOSE_FAILED_ATTEMPT: RowOperation<FailedDeliveryResult> = {
  key: 'attemptSeq',
  statements: [
    ...storeResults(', is_unresolved = 1'),
    `DELETE FROM triggers WHERE seq IN (SELECT gone.seq FROM input
    CROSS JOIN triggers AS gone ON gone.id = input.goneTriggerId AND gone.tenant_id = input.tenantId)`,
    // A null due time marks the job for the next statement.
    `UPDATE jobs SET kind = 'webhook_retry', due_at = CASE WHEN is_last = 1 THEN NULL ELSE (
      SELECT CASE ${policyOf('kind', 'target_id')} WHEN 'short' THEN input.shortDueAt WHEN 'standard' THEN input.standardDueAt END
      FROM webhook_attempts WHERE webhook_attempts.seq = input.attemptSeq) END
    FROM input WHERE jobs.seq = input.jobSeq AND jobs.kind IN ('webhook', 'webhook_retry')
    RETURNING (SELECT max(own.seq) FROM webhook_attempts AS own WHERE own.delivery_id = subject) AS key, due_at`,
    // The unary plus keeps SQLite from reading all retries.
    "DELETE FROM jobs WHERE seq IN (SELECT input.jobSeq FROM input) AND +kind = 'webhook_retry' AND due_at IS NULL",
  ],
}
