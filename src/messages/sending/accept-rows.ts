import type { Row } from '../../db/connection.ts'
import type { JsonRow, RowOperation } from '../../db/writer.ts'
import { countUsage } from '../usage/roll-up.ts'
import { ALWAYS, type AttemptRow, insertAttempts } from './attempt-rows.ts'

/** A message that is being accepted. */
export interface NewMessage extends JsonRow {
  messageId: string
  jobId: string
  tenantId: string
  appId: string
  userId: string | null
  from: string
  to: string
  body: string
  /** The column `attachments` of a message with media: their ids, in order, and what lists show about them. Null for a text. */
  attachments: string | null
  /** Epoch milliseconds. */
  now: number
  /** Only with an `Idempotency-Key`. */
  idempotencyKey: string | null
  requestHash: string | null
  /** Epoch milliseconds. Keys stored before it have expired. */
  keysExpiredBefore: number
  /** The failed message that this one replaces. */
  resentFrom: string | null
}

/** A new message, and the attempt that its commit opens if `extensionId` is not null. */
export type AcceptRow = NewMessage & AttemptRow

/** The status of a new message: `sending` if the statement before this one opened its attempt. */
const STATUS = `iif(EXISTS (SELECT 1 FROM send_attempts AS attempt WHERE attempt.message_id = input.messageId), 'sending', 'queued')`

const insertMessages = (
  condition: string,
  status = STATUS,
  sendAt = 'NULL',
): string => `INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, created_at, updated_at, send_at)
  SELECT input.messageId, input.jobId, input.tenantId, input.appId, input.userId, 'outbound', input."from", input."to", input.body, ${status},
    input.now, input.now, ${sendAt}
  FROM input WHERE ${condition}`

/** The queue age counts from `startedAt`, even for a message that has to wait. */
const insertJobs = (
  condition: string,
): string => `INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, created_at)
  SELECT input.jobId, 'send', input."from", input.tenantId, input.messageId, input."to", input.startedAt FROM input WHERE ${condition}
  RETURNING subject AS key, seq AS job_seq`

const countAccepted = (condition: string): string =>
  countUsage({
    tenantId: 'input.tenantId',
    appId: 'input.appId',
    at: 'input.now',
    counts: { accepted: '1' },
    from: `FROM input WHERE ${condition}`,
  })

/**
 * Stores a message and its job in one commit, and opens its first attempt if `extensionId` is set and the checks hold.
 * Returns a row with `job_seq`, and one with `attempt_seq` if an attempt was opened.
 */
export const ACCEPT: RowOperation<AcceptRow> = { key: 'messageId', statements: acceptStatements(ALWAYS) }

export function acceptStatements(condition: string): string[] {
  return [insertAttempts(condition), insertMessages(condition), insertJobs(condition), countAccepted(condition)]
}

/** A message that enters its queue at `sendAt`. */
export interface ScheduledMessage extends NewMessage {
  /** Epoch milliseconds. */
  sendAt: number
}

/** The lane of a `schedule` job is the id of its message, so a cancellation finds the job. */
const insertScheduleJobs = (
  condition: string,
): string => `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT input.jobId, 'schedule', input.messageId, input.tenantId, input.messageId, input.sendAt, input.now FROM input WHERE ${condition}
  RETURNING subject AS key, seq AS job_seq`

/** Stores a scheduled message and its `schedule` job in one commit. Returns a row with `job_seq`. */
export const SCHEDULE: RowOperation<ScheduledMessage> = { key: 'messageId', statements: scheduleStatements(ALWAYS) }

export function scheduleStatements(condition: string): string[] {
  return [
    insertMessages(condition, `'queued'`, 'input.sendAt'),
    insertScheduleJobs(condition),
    countAccepted(condition),
  ]
}

/** True for the first of several requests with the same key. */
const OWNS_KEY = `EXISTS (SELECT 1 FROM idempotency_keys AS stored
  WHERE stored.app_id = input.appId AND stored.key = input.idempotencyKey AND stored.message_id = input.messageId)`

const FORGET_OWN_EXPIRED = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT stored.rowid FROM input
  CROSS JOIN idempotency_keys AS stored ON stored.app_id = input.appId AND stored.key = input.idempotencyKey
  WHERE stored.created_at < input.keysExpiredBefore)`

/** Each commit that stores keys also deletes some expired ones. The limit keeps the commit short. */
const FORGET_SOME_EXPIRED = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys
  WHERE created_at < (SELECT min(input.keysExpiredBefore) FROM input) ORDER BY created_at LIMIT 100)`

/** Stores each request's key with its message, unless the key has a message already. */
const keepKeys = (
  condition: string,
): string => `INSERT INTO idempotency_keys (app_id, key, request_hash, message_id, created_at)
  SELECT input.appId, input.idempotencyKey, input.requestHash, input.messageId, input.now FROM input WHERE ${condition}
  ON CONFLICT (app_id, key) DO NOTHING`

/** The message of each request's key, and the hash of the first request with that key. */
const KEPT_KEYS = `SELECT input.messageId AS key, stored.message_id, stored.request_hash FROM input
  CROSS JOIN idempotency_keys AS stored ON stored.app_id = input.appId AND stored.key = input.idempotencyKey`

/**
 * The operation that stores only the first request with each `Idempotency-Key`. `condition`: which requests may keep their key. Also returns
 * the rows of `KEPT_KEYS`.
 */
export const once = <Message extends NewMessage>(
  statements: (condition: string) => string[],
  condition = ALWAYS,
): RowOperation<Message> => ({
  key: 'messageId',
  statements: [FORGET_OWN_EXPIRED, FORGET_SOME_EXPIRED, keepKeys(condition), ...statements(OWNS_KEY), KEPT_KEYS],
})

export const ACCEPT_ONCE = once<AcceptRow>(acceptStatements)
export const SCHEDULE_ONCE = once<ScheduledMessage>(scheduleStatements)

/** Marks the failed message as sent again, unless it already is. */
const claimFailed = (condition: string): string => `UPDATE messages SET resent_as = input.messageId FROM input
  WHERE messages.id = input.resentFrom AND messages.tenant_id = input.tenantId AND messages.status = 'failed' AND messages.resent_as IS NULL
    AND ${condition}`

/** True for the first replacement of a failed message. */
const OWNS_FAILED = `EXISTS (SELECT 1 FROM messages AS failed
  WHERE failed.id = input.resentFrom AND failed.tenant_id = input.tenantId AND failed.resent_as = input.messageId)`

/** The replacement of each failed message, in the form of `KEPT_KEYS`. */
const RESENT_AS = `SELECT input.messageId AS key, failed.resent_as AS message_id, '' AS request_hash FROM input
  CROSS JOIN messages AS failed ON failed.id = input.resentFrom AND failed.tenant_id = input.tenantId
  WHERE failed.resent_as IS NOT NULL`

/**
 * The operation that stores only the first replacement of a failed message. `condition`: which messages may be replaced. Also returns the rows
 * of `RESENT_AS`.
 */
export const again = (statements: (condition: string) => string[], condition = ALWAYS): RowOperation<AcceptRow> => ({
  key: 'messageId',
  statements: [claimFailed(condition), ...statements(OWNS_FAILED), RESENT_AS],
})

export const ACCEPT_AGAIN = again(acceptStatements)

/** The message that a request has stored, or that its `Idempotency-Key` had already. */
export interface KeptRequest {
  messageId: string
  /** Hash of the first request with the key; null without a key. */
  requestHash: string | null
}

/** The result of accepting a message. */
export interface Stored extends KeptRequest {
  /** Null for a repeated request, and if its media is gone. */
  jobSeq: number | null
  /** Null if the message waits. */
  attemptSeq: number | null
}

export function storedOf({ messageId, requestHash }: NewMessage, rows: readonly Row[]): Stored {
  const numberIn = (column: string): number | null => {
    const value = rows.find((row) => row[column] !== undefined)?.[column]
    return value === undefined ? null : Number(value)
  }
  const kept = rows.find((row) => row['message_id'] !== undefined)
  return {
    messageId: kept === undefined ? messageId : String(kept['message_id']),
    requestHash: kept === undefined ? requestHash : String(kept['request_hash']),
    jobSeq: numberIn('job_seq'),
    attemptSeq: numberIn('attempt_seq'),
  }
}
