import type { RowOperation } from '../../db/writer.ts'
import { ACCEPT, type AcceptRow, KEEP_KEYS, KEPT_KEYS, KEY_COLUMNS, OWN_KEY } from './accept-rows.ts'
import { RESULT, RETRY, type ResultRow, UNKNOWN, type UnknownRow, noneFenced } from './attempt-rows.ts'

// A first attempt that begins with its message has no rows of its own: its message stands for it and for its job. It gets
// an attempt row when it ends otherwise than as sent or its outcome is unknown, and a job where something is left to do.

/** A message whose first attempt begins with it. */
export interface BeginRow extends AcceptRow {
  attemptId: string
  extensionId: string
  /** Its number among the attempts that began so, for the restore mark. */
  begun: number
}

/** Whether any attempt with a row of its own is open is asked once for all rows. */
const NONE_OPEN = `(NOT EXISTS (SELECT 1 FROM send_attempts INDEXED BY send_attempts_open WHERE outcome IS NULL)
      OR NOT EXISTS (SELECT 1 FROM send_attempts AS open CROSS JOIN messages AS other ON other.id = open.message_id
        WHERE open.extension_id = given.extensionId AND open.from_number = given."from" AND open.to_number = given."to"
          AND open.outcome IS NULL AND other.body = given.body))`

const insertBegun = (condition: string): string =>
  `INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, attempt_id, first_attempt_extension_id,
      first_attempt_at, created_at, updated_at)
    SELECT messageId, jobId, given.tenantId, appId, userId, 'outbound', given."from", given."to", given.body, 'sending', attemptId, extensionId,
      runAt, now, now
    FROM given
    CROSS JOIN tenants ON tenants.id = given.tenantId AND tenants.status = 'active'
    CROSS JOIN extensions ON extensions.tenant_id = given.tenantId AND extensions.extension_id = given.extensionId
      AND extensions.status = 'active'
    WHERE ${NONE_OPEN} AND ${noneFenced('given.body')} ${condition}
    ON CONFLICT DO NOTHING RETURNING id AS key`

const COUNT_BEGUN = `UPDATE facts SET value = max(CAST(value AS INTEGER), (SELECT CAST(max(begun) AS INTEGER) FROM given)) WHERE name = 'begun'`

/**
 * Message and open first attempt in one row. Decides in SQL as a claim does: its tenant and the extension must be active,
 * and neither another open attempt nor a message behind the fence may carry the same text; else nothing is stored. Answers one row if it was.
 */
export const BEGIN: RowOperation<BeginRow> = {
  columns: [...ACCEPT.columns, 'runAt', 'attemptId', 'extensionId', 'begun'],
  key: 'messageId',
  statements: [insertBegun(''), COUNT_BEGUN],
}

/** A key whose message was not stored would answer for one that does not exist. The id alone may be another message's. */
const RELEASE_KEYS = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT stored.rowid FROM given
  CROSS JOIN idempotency_keys AS stored ON stored.app_id = given.appId AND stored.key = given.idempotencyKey AND stored.message_id = given.messageId
  WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = given.messageId AND messages.job_id = given.jobId))`

/** The same, but only for the first request with its `Idempotency-Key`. Answers `KEPT_KEYS` behind it: nothing for one that must wait for its turn. */
export const BEGIN_ONCE: RowOperation<BeginRow> = {
  columns: [...BEGIN.columns, ...KEY_COLUMNS],
  key: 'messageId',
  statements: [...KEEP_KEYS, insertBegun(`AND ${OWN_KEY}`), COUNT_BEGUN, RELEASE_KEYS, KEPT_KEYS],
}

/** The rest of an attempt's row. */
export interface FirstAttemptFacts extends Record<string, string | number | null> {
  textHash: string
  bootId: string
  /** Steady time. */
  startedAt: number
}

const FACTS = ['textHash', 'bootId', 'startedAt'] as const

/** Only while the attempt is its message's current one, and has no row. */
const OF_MESSAGE = `messages.id = given.messageId AND messages.attempt_id = given.attemptId AND messages.status = 'sending'
  AND messages.first_attempt_extension_id IS NOT NULL`

const insertAttempt = (end: string, values: string): string =>
  `INSERT INTO send_attempts (id, message_id, tenant_id, extension_id, from_number, to_number, text_hash, number, boot_id, started_at, ${end})
    SELECT messages.attempt_id, messages.id, messages.tenant_id, messages.first_attempt_extension_id, messages.from_number, messages.to_number, textHash, 1,
      bootId, startedAt, ${values}
    FROM given CROSS JOIN messages ON ${OF_MESSAGE}`

const ENDED_ATTEMPT = insertAttempt(
  'ended_at, outcome, http_status, code, request_id',
  'endedAt, given.outcome, httpStatus, given.code, requestId',
)

const insertJob = (kind: 'send' | 'settle', runAt: string): string =>
  `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
    SELECT messages.job_id, '${kind}', given.lane, messages.tenant_id, messages.id, ${runAt}, messages.created_at
    FROM given CROSS JOIN messages ON ${OF_MESSAGE}`

const LEAVE_MESSAGE = `UPDATE messages SET first_attempt_extension_id = NULL, first_attempt_at = NULL FROM given WHERE ${OF_MESSAGE}`

/** Stores that the first attempt was accepted. Answers one row if the message was changed by it. */
export const FIRST_SENT: RowOperation<Pick<ResultRow, 'messageId' | 'attemptId' | 'now'> & { rcMessageId: string }> = {
  columns: ['messageId', 'attemptId', 'rcMessageId', 'now'],
  key: 'messageId',
  statements: [
    `UPDATE messages SET status = 'sent', rc_message_id = rcMessageId, updated_at = given.now FROM given WHERE ${OF_MESSAGE}
      RETURNING id AS key`,
  ],
}

/** Stores that it ended its message otherwise. Answers as `FIRST_SENT` does. */
export const FIRST_FAILED: RowOperation<ResultRow & FirstAttemptFacts> = {
  columns: [...RESULT.columns, ...FACTS],
  key: 'messageId',
  statements: [
    ENDED_ATTEMPT,
    `UPDATE messages SET status = given.status, rc_message_id = rcMessageId, error = given.error, updated_at = given.now,
        first_attempt_extension_id = NULL, first_attempt_at = NULL
      FROM given WHERE ${OF_MESSAGE} RETURNING id AS key`,
  ],
}

/** Leaves its message `sending`, with a job for another attempt at `nextAt`. */
export const FIRST_RETRY: RowOperation<ResultRow & FirstAttemptFacts> = {
  columns: [...RETRY.columns, ...FACTS],
  key: 'messageId',
  statements: [ENDED_ATTEMPT, insertJob('send', 'nextAt'), LEAVE_MESSAGE],
}

/** Its outcome is not known: it is left open, with a job that settles it. */
export const FIRST_UNKNOWN: RowOperation<UnknownRow & FirstAttemptFacts> = {
  columns: [...UNKNOWN.columns, ...FACTS],
  key: 'messageId',
  statements: [
    insertAttempt('settle_at, http_status, code, request_id', 'settleAt, httpStatus, given.code, requestId'),
    insertJob('settle', 'lookAt'),
    LEAVE_MESSAGE,
  ],
}
