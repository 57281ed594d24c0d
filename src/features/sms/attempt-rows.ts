import type { AttemptOutcome, MessageStatus } from '../../db/schema/messages.ts'
import type { RowOperation } from '../../db/writer.ts'

/** One provider call that is about to be made. */
export interface ClaimRow extends Record<string, string | number | null> {
  attemptId: string
  messageId: string
  tenantId: string
  extensionId: string
  from: string
  to: string
  textHash: string
  number: number
  bootId: string
  /** Wall-clock, for the message; and steady, for the attempt. */
  now: number
  startedAt: number
  /** The attempt that came before, whose end this one builds on; null for the first. */
  previousAttemptId: string | null
}

/**
 * Opens an attempt and marks its message `sending`, in one commit before the call. Decides in SQL: the message must
 * stand where the claimer saw it, its tenant and the extension must be active, and no other open attempt may carry the same text.
 * Answers one row, with the attempt's `seq`, if the claim holds.
 */
export const CLAIM: RowOperation<ClaimRow> = {
  key: 'messageId',
  statements: [
    `INSERT INTO send_attempts (id, message_id, tenant_id, extension_id, from_number, to_number, text_hash, number, boot_id, started_at)
      SELECT value ->> 'attemptId', value ->> 'messageId', value ->> 'tenantId', value ->> 'extensionId', value ->> 'from',
        value ->> 'to', value ->> 'textHash', value ->> 'number', value ->> 'bootId', value ->> 'startedAt'
      FROM json_each(?1)
      JOIN messages ON messages.id = value ->> 'messageId'
      JOIN tenants ON tenants.id = messages.tenant_id AND tenants.status = 'active'
      JOIN extensions ON extensions.tenant_id = messages.tenant_id AND extensions.extension_id = value ->> 'extensionId'
        AND extensions.status = 'active'
      WHERE messages.attempt_id IS value ->> 'previousAttemptId'
        AND messages.status = CASE WHEN value ->> 'previousAttemptId' IS NULL THEN 'queued' ELSE 'sending' END
      ON CONFLICT DO NOTHING`,
    `UPDATE messages SET attempt_id = claim.attempt_id, status = 'sending',
        updated_at = CASE status WHEN 'queued' THEN claim.now ELSE updated_at END
      FROM (SELECT value ->> 'attemptId' AS attempt_id, value ->> 'messageId' AS message_id, value ->> 'now' AS now FROM json_each(?1)) AS claim
      WHERE messages.id = claim.message_id
        AND EXISTS (SELECT 1 FROM send_attempts AS opened WHERE opened.message_id = claim.message_id AND opened.id = claim.attempt_id)`,
    `SELECT value ->> 'messageId' AS key, opened.seq FROM json_each(?1)
      JOIN send_attempts AS opened ON opened.message_id = value ->> 'messageId' AND opened.id = value ->> 'attemptId'
      JOIN messages ON messages.id = opened.message_id AND messages.attempt_id = opened.id`,
  ],
}

/** How an attempt, and with it perhaps its message, ended. */
export interface ResultRow extends Record<string, string | number | null> {
  messageId: string
  attemptId: string
  jobSeq: number
  outcome: AttemptOutcome
  /** `sent` or `failed` ends the message; `sending` leaves it to the next attempt. */
  status: MessageStatus
  rcMessageId: string | null
  error: string | null
  /** When the next attempt is due, epoch milliseconds; only while `sending`. */
  nextAt: number | null
  httpStatus: number | null
  code: string | null
  requestId: string | null
  now: number
  endedAt: number
}

/**
 * Stores a result. Fenced: it counts only while its attempt is the message's current one and the message is `sending`; so does what it does to the job.
 * Answers one row if the message was changed by it.
 */
export const RESULT: RowOperation<ResultRow> = {
  key: 'messageId',
  statements: [
    `UPDATE send_attempts SET outcome = result.outcome, ended_at = result.ended_at, http_status = result.http_status,
        code = result.code, request_id = result.request_id
      FROM (SELECT value ->> 'messageId' AS message_id, value ->> 'attemptId' AS attempt_id, value ->> 'outcome' AS outcome,
        value ->> 'endedAt' AS ended_at, value ->> 'httpStatus' AS http_status, value ->> 'code' AS code, value ->> 'requestId' AS request_id
        FROM json_each(?1)) AS result
      WHERE send_attempts.message_id = result.message_id AND send_attempts.id = result.attempt_id AND send_attempts.outcome IS NULL`,
    `UPDATE messages SET status = result.status, rc_message_id = result.rc_message_id, error = result.error, updated_at = result.now
      FROM (SELECT value ->> 'messageId' AS message_id, value ->> 'attemptId' AS attempt_id, value ->> 'status' AS status,
        value ->> 'rcMessageId' AS rc_message_id, value ->> 'error' AS error, value ->> 'now' AS now
        FROM json_each(?1)) AS result
      WHERE messages.id = result.message_id AND messages.attempt_id = result.attempt_id
        AND messages.status = 'sending' AND result.status != 'sending'
      RETURNING id AS key`,
    `DELETE FROM jobs WHERE seq IN (SELECT value ->> 'jobSeq' FROM json_each(?1) WHERE value ->> 'status' != 'sending')
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = jobs.subject AND messages.status = 'sending')`,
    `UPDATE jobs SET run_at = result.next_at, kind = 'send', lane = message.from_number
      FROM (SELECT value ->> 'jobSeq' AS job_seq, value ->> 'messageId' AS message_id, value ->> 'attemptId' AS attempt_id,
        value ->> 'nextAt' AS next_at FROM json_each(?1) WHERE value ->> 'status' = 'sending') AS result
      JOIN messages AS message ON message.id = result.message_id AND message.attempt_id = result.attempt_id
      WHERE jobs.seq = result.job_seq`,
  ],
}

/** An attempt whose outcome is not known, handed over to be settled by the provider's message store. */
export interface UnknownRow extends Record<string, string | number | null> {
  messageId: string
  attemptId: string
  jobSeq: number
  lane: string
  /** From then on "absent" counts. */
  settleAt: number
  /** When to look first. */
  lookAt: number
  httpStatus: number | null
  code: string | null
  requestId: string | null
}

export const UNKNOWN: RowOperation<UnknownRow> = {
  key: 'messageId',
  statements: [
    `UPDATE send_attempts SET settle_at = result.settle_at, http_status = result.http_status, code = result.code, request_id = result.request_id
      FROM (SELECT value ->> 'messageId' AS message_id, value ->> 'attemptId' AS attempt_id, value ->> 'settleAt' AS settle_at,
        value ->> 'httpStatus' AS http_status, value ->> 'code' AS code, value ->> 'requestId' AS request_id
        FROM json_each(?1)) AS result
      WHERE send_attempts.message_id = result.message_id AND send_attempts.id = result.attempt_id AND send_attempts.outcome IS NULL`,
    `UPDATE jobs SET kind = 'settle', lane = result.lane, run_at = result.look_at
      FROM (SELECT value ->> 'jobSeq' AS job_seq, value ->> 'messageId' AS message_id, value ->> 'attemptId' AS attempt_id,
        value ->> 'lane' AS lane, value ->> 'lookAt' AS look_at FROM json_each(?1)) AS result
      JOIN messages AS message ON message.id = result.message_id AND message.attempt_id = result.attempt_id
      WHERE jobs.seq = result.job_seq`,
  ],
}

/** Ends a queued message without any provider call. */
export interface GiveUpRow extends Record<string, string | number | null> {
  messageId: string
  jobSeq: number
  error: string
  now: number
  /** The state in which the message was seen. */
  status: MessageStatus
  attemptId: string | null
}

export const GIVE_UP: RowOperation<GiveUpRow> = {
  key: 'messageId',
  statements: [
    `UPDATE messages SET status = 'failed', error = result.error, updated_at = result.now
      FROM (SELECT value ->> 'messageId' AS message_id, value ->> 'error' AS error, value ->> 'now' AS now,
        value ->> 'status' AS status, value ->> 'attemptId' AS attempt_id FROM json_each(?1)) AS result
      WHERE messages.id = result.message_id AND messages.status = result.status AND messages.attempt_id IS result.attempt_id
      RETURNING id AS key`,
    `DELETE FROM jobs WHERE seq IN (SELECT value ->> 'jobSeq' FROM json_each(?1))
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = jobs.subject AND messages.status IN ('queued', 'sending'))`,
  ],
}
