import type { Row } from '../db/connection.ts'
import type { RowOperation } from '../db/writer.ts'
import { countUsage } from '../usage/roll-up.ts'
import { OPEN_COLUMNS, type OpenRow, openAttempts } from './attempt-rows.ts'

/** A message on its way in. */
export interface NewMessage extends Record<string, string | number | null> {
  messageId: string
  jobId: string
  tenantId: string
  appId: string
  userId: string | null
  from: string
  to: string
  body: string
  /** Epoch milliseconds. */
  now: number
  /** Only with an `Idempotency-Key`. */
  idempotencyKey: string | null
  requestHash: string | null
  expiredBefore: number
}

/** With the attempt that begins in the same commit, where one may. */
export type AcceptRow = NewMessage & OpenRow

/** The attempt of a message may have been opened just before. */
const STATUS = `iif(EXISTS (SELECT 1 FROM send_attempts AS opened WHERE opened.message_id = given.messageId), 'sending', 'queued')`

const insertMessages = (condition: string, status = STATUS, sendAt = 'NULL'): string =>
  `INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, created_at, updated_at, send_at)
    SELECT messageId, jobId, tenantId, appId, userId, 'outbound', given."from", given."to", given.body, ${status}, given.now, given.now, ${sendAt}
    FROM given WHERE ${condition}`

const insertJobs = (condition: string): string =>
  `INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, created_at)
    SELECT jobId, 'send', given."from", tenantId, messageId, given."to", startedAt FROM given WHERE ${condition}
    RETURNING subject AS key, seq AS job_seq`

function countAccepted(condition: string): string {
  const counts = { accepted: '1' }
  const from = `FROM given WHERE ${condition}`
  return countUsage({ tenantId: 'given.tenantId', appId: 'given.appId', at: 'given.now', counts, from })
}

const MESSAGE_COLUMNS = ['jobId', 'appId', 'userId', 'body'] as const

/**
 * A message and its job in one commit, with its first attempt if an extension is given and the checks hold. Answers a row
 * with `job_seq`, and one with `attempt_seq` if an attempt was opened.
 */
export const ACCEPT: RowOperation<AcceptRow> = {
  columns: [...OPEN_COLUMNS, ...MESSAGE_COLUMNS],
  key: 'messageId',
  statements: acceptStatements('true'),
}

function acceptStatements(condition: string): string[] {
  return [openAttempts(condition), insertMessages(condition), insertJobs(condition), countAccepted(condition)]
}

/** A message that enters the order at a time of its own. */
export interface ScheduledMessage extends NewMessage {
  /** Epoch milliseconds. */
  sendAt: number
}

/** The lane of a `schedule` job is its message, so that a cancellation finds it. */
const insertScheduleJobs = (condition: string): string =>
  `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    SELECT jobId, 'schedule', messageId, tenantId, messageId, sendAt, given.now FROM given WHERE ${condition}
    RETURNING subject AS key, seq AS job_seq`

/** A scheduled message and its `schedule` job in one commit. Answers a row with `job_seq`. */
export const SCHEDULE: RowOperation<ScheduledMessage> = {
  columns: ['messageId', 'tenantId', 'from', 'to', 'now', 'sendAt', ...MESSAGE_COLUMNS],
  key: 'messageId',
  statements: scheduleStatements('true'),
}

function scheduleStatements(condition: string): string[] {
  return [insertMessages(condition, `'queued'`, 'sendAt'), insertScheduleJobs(condition), countAccepted(condition)]
}

/** Of several requests with one key the first has it. */
const OWNS_KEY = `EXISTS (SELECT 1 FROM idempotency_keys AS stored
  WHERE stored.app_id = given.appId AND stored.key = given.idempotencyKey AND stored.message_id = given.messageId)`

const FORGET_OWN_EXPIRED = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT stored.rowid FROM given
  CROSS JOIN idempotency_keys AS stored ON stored.app_id = given.appId AND stored.key = given.idempotencyKey
  WHERE stored.created_at < expiredBefore)`

/** Keys that nobody repeats leave with those that come: a few each time, so that no commit is long. */
const FORGET_SOME_EXPIRED = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys
  WHERE created_at < (SELECT min(expiredBefore) FROM given) ORDER BY created_at LIMIT 100)`

/** Each request's key gets its message, unless it stands for another one already. */
const KEEP_KEYS = `INSERT INTO idempotency_keys (app_id, key, request_hash, message_id, created_at)
  SELECT appId, idempotencyKey, requestHash, messageId, now FROM given WHERE true ON CONFLICT (app_id, key) DO NOTHING`

/** The message that each request's key stands for, with the hash of the request that came first. */
const KEPT_KEYS = `SELECT given.messageId AS key, stored.message_id, stored.request_hash FROM given
  CROSS JOIN idempotency_keys AS stored ON stored.app_id = given.appId AND stored.key = given.idempotencyKey`

/** The same as another operation, but only for the first request with its `Idempotency-Key`. Answers `KEPT_KEYS` as well. */
const once = <Given extends NewMessage>(
  operation: RowOperation<Given>,
  statements: (condition: string) => string[],
): RowOperation<Given> => ({
  columns: [...operation.columns, 'idempotencyKey', 'requestHash', 'expiredBefore'],
  key: 'messageId',
  statements: [FORGET_OWN_EXPIRED, FORGET_SOME_EXPIRED, KEEP_KEYS, ...statements(OWNS_KEY), KEPT_KEYS],
})

export const ACCEPT_ONCE = once(ACCEPT, acceptStatements)
export const SCHEDULE_ONCE = once(SCHEDULE, scheduleStatements)

/** What a request stands for. */
export interface KeptRequest {
  /** Its own message, or the one that its `Idempotency-Key` was used for before. */
  messageId: string
  /** Of the first request with its key; null without a key. */
  requestHash: string | null
}

/** What an acceptance has stored. */
export interface Stored extends KeptRequest {
  /** Null for a repeated request. */
  jobSeq: number | null
  /** Null where the message waits. */
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
