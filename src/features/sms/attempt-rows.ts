import type { AttemptOutcome, MessageStatus } from '../../db/schema/messages.ts'
import type { RowOperation } from '../../db/writer.ts'
import { AGAIN } from './send-lane.ts'

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
 * After a restore the provider may hold a record of a message that waits behind the fence: an attempt of unknown outcome
 * with the same text could take it for its own, and that message would go out twice. Whether anything waits there at all is asked
 * once for all rows.
 */
export const noneFenced = (
  body: string,
): string => `(NOT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_by_lane WHERE kind = 'fence')
          OR NOT EXISTS (SELECT 1 FROM jobs AS fenced INDEXED BY jobs_by_lane CROSS JOIN messages AS waiting ON waiting.id = fenced.subject
          WHERE fenced.kind = 'fence' AND fenced.lane IN (given."from", given."from" || '${AGAIN}')
            AND waiting.to_number = given."to" AND waiting.body = ${body}))`

/**
 * Opens an attempt and marks its message `sending`, in one commit before the call. Decides in SQL: the message must
 * stand where the claimer saw it, its tenant and the extension must be active, and neither another open attempt nor a message
 * behind the fence may carry the same text.
 * Answers one row, with the attempt's `seq`, if the claim holds.
 */
export const CLAIM: RowOperation<ClaimRow> = {
  columns: [
    'attemptId',
    'messageId',
    'tenantId',
    'extensionId',
    'from',
    'to',
    'textHash',
    'number',
    'bootId',
    'now',
    'startedAt',
    'previousAttemptId',
  ],
  key: 'messageId',
  statements: [
    `INSERT INTO send_attempts (id, message_id, tenant_id, extension_id, from_number, to_number, text_hash, number, boot_id, started_at)
      SELECT attemptId, messageId, tenantId, extensionId, given."from", given."to", textHash, given.number, bootId, startedAt FROM given
      CROSS JOIN messages ON messages.id = given.messageId
      CROSS JOIN tenants ON tenants.id = messages.tenant_id AND tenants.status = 'active'
      CROSS JOIN extensions ON extensions.tenant_id = messages.tenant_id AND extensions.extension_id = given.extensionId
        AND extensions.status = 'active'
      WHERE messages.attempt_id IS previousAttemptId
        AND messages.status = CASE WHEN previousAttemptId IS NULL THEN 'queued' ELSE 'sending' END
        AND NOT EXISTS (SELECT 1 FROM messages AS other WHERE other.first_attempt_extension_id = given.extensionId
          AND other.from_number = given."from" AND other.to_number = given."to" AND other.body = messages.body AND other.status = 'sending')
        AND ${noneFenced('messages.body')}
      ON CONFLICT DO NOTHING RETURNING message_id AS key, seq`,
    `UPDATE messages SET attempt_id = attemptId, status = 'sending', updated_at = CASE status WHEN 'queued' THEN given.now ELSE updated_at END
      FROM given WHERE messages.id = given.messageId
        AND EXISTS (SELECT 1 FROM send_attempts AS opened WHERE opened.message_id = given.messageId AND opened.id = given.attemptId)`,
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
  /** Where and when the next attempt is due, epoch milliseconds; only while `sending`. */
  lane: string | null
  nextAt: number | null
  httpStatus: number | null
  code: string | null
  requestId: string | null
  now: number
  endedAt: number
}

const END_ATTEMPTS = `UPDATE send_attempts SET outcome = given.outcome, ended_at = endedAt, http_status = httpStatus,
    code = given.code, request_id = requestId
  FROM given WHERE send_attempts.message_id = given.messageId AND send_attempts.id = given.attemptId AND send_attempts.outcome IS NULL`

/**
 * Stores a result that ends its message. Fenced: it counts only while its attempt is the message's current one and the
 * message is `sending`. Answers one row if the message was changed by it.
 */
export const RESULT: RowOperation<ResultRow> = {
  columns: [
    'messageId',
    'attemptId',
    'jobSeq',
    'outcome',
    'status',
    'rcMessageId',
    'error',
    'httpStatus',
    'code',
    'requestId',
    'now',
    'endedAt',
  ],
  key: 'messageId',
  statements: [
    END_ATTEMPTS,
    `UPDATE messages SET status = given.status, rc_message_id = rcMessageId, error = given.error, updated_at = given.now
      FROM given WHERE messages.id = given.messageId AND messages.attempt_id = given.attemptId AND messages.status = 'sending'
      RETURNING id AS key`,
    `DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM given)
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = jobs.subject AND messages.status = 'sending')`,
  ],
}

/** Stores a result that leaves its message `sending`, for another attempt at `nextAt`. Fenced like the other one. */
export const RETRY: RowOperation<ResultRow> = {
  columns: [
    'messageId',
    'attemptId',
    'jobSeq',
    'outcome',
    'lane',
    'nextAt',
    'httpStatus',
    'code',
    'requestId',
    'endedAt',
  ],
  key: 'messageId',
  statements: [
    END_ATTEMPTS,
    `UPDATE jobs SET run_at = nextAt, kind = 'send', lane = given.lane
      FROM given CROSS JOIN messages AS message ON message.id = given.messageId AND message.attempt_id = given.attemptId
      WHERE jobs.seq = given.jobSeq`,
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
  columns: ['messageId', 'attemptId', 'jobSeq', 'lane', 'settleAt', 'lookAt', 'httpStatus', 'code', 'requestId'],
  key: 'messageId',
  statements: [
    `UPDATE send_attempts SET settle_at = settleAt, http_status = httpStatus, code = given.code, request_id = requestId
      FROM given WHERE send_attempts.message_id = given.messageId AND send_attempts.id = given.attemptId AND send_attempts.outcome IS NULL`,
    `UPDATE jobs SET kind = 'settle', lane = given.lane, run_at = lookAt
      FROM given CROSS JOIN messages AS message ON message.id = given.messageId AND message.attempt_id = given.attemptId
      WHERE jobs.seq = given.jobSeq`,
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
  columns: ['messageId', 'jobSeq', 'error', 'now', 'status', 'attemptId'],
  key: 'messageId',
  statements: [
    `UPDATE messages SET status = 'failed', error = given.error, updated_at = given.now
      FROM given WHERE messages.id = given.messageId AND messages.status = given.status AND messages.attempt_id IS given.attemptId
      RETURNING id AS key`,
    `DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM given)
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = jobs.subject AND messages.status IN ('queued', 'sending'))`,
  ],
}
