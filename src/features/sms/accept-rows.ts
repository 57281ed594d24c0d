import type { Row } from '../../db/connection.ts'
import { JUST_INSERTED } from '../../db/just-inserted.ts'
import type { RowOperation } from '../../db/writer.ts'

/** A message on its way in. */
export interface AcceptRow extends Record<string, string | number | null> {
  messageId: string
  jobId: string
  tenantId: string
  appId: string
  userId: string | null
  from: string
  to: string
  body: string
  now: number
  runAt: number
  /** Only with an `Idempotency-Key`. */
  idempotencyKey: string | null
  requestHash: string | null
  expiredBefore: number
}

const INSERT_MESSAGES = `INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, created_at, updated_at)
  SELECT messageId, jobId, tenantId, appId, userId, 'outbound', given."from", given."to", given.body, 'queued', given.now, given.now FROM given`

/** Due at once. */
const INSERT_JOBS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
  SELECT job_id, 'send', from_number, tenant_id, id, 0, created_at FROM messages WHERE ${JUST_INSERTED} ORDER BY seq
  RETURNING subject AS key, seq`

/** A message that waits for its turn, and its job, in one commit. Answers one row, with the job's `seq`. */
export const ACCEPT: RowOperation<AcceptRow> = {
  columns: ['messageId', 'jobId', 'tenantId', 'appId', 'userId', 'from', 'to', 'body', 'now'],
  key: 'messageId',
  statements: [INSERT_MESSAGES, INSERT_JOBS],
}

/** Of several requests with one key the first has it. */
export const OWN_KEY = `EXISTS (SELECT 1 FROM idempotency_keys AS stored
  WHERE stored.app_id = given.appId AND stored.key = given.idempotencyKey AND stored.message_id = given.messageId)`

/** Keys that nobody repeats leave with those that come: a few each time, so that no commit is long. */
const FORGET_SOME_EXPIRED = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys
  WHERE created_at < (SELECT min(expiredBefore) FROM given) ORDER BY created_at LIMIT 100)`

export const KEY_COLUMNS = ['idempotencyKey', 'requestHash', 'expiredBefore'] as const

/** Each request's key gets its message, unless it stands for another one already. */
export const KEEP_KEYS = [
  `DELETE FROM idempotency_keys WHERE rowid IN (SELECT stored.rowid FROM given
    CROSS JOIN idempotency_keys AS stored ON stored.app_id = given.appId AND stored.key = given.idempotencyKey
    WHERE stored.created_at < expiredBefore)`,
  FORGET_SOME_EXPIRED,
  `INSERT INTO idempotency_keys (app_id, key, request_hash, message_id, created_at)
    SELECT appId, idempotencyKey, requestHash, messageId, now FROM given WHERE true ON CONFLICT (app_id, key) DO NOTHING`,
]

/** The message that each request's key stands for, with the hash of the request that came first. */
export const KEPT_KEYS = `SELECT given.messageId AS key, stored.message_id, stored.request_hash FROM given
  CROSS JOIN idempotency_keys AS stored ON stored.app_id = given.appId AND stored.key = given.idempotencyKey`

/** What a request stands for. */
export interface KeptRequest {
  messageId: string
  /** Of the first request with its key; null without a key. */
  requestHash: string | null
}

/** From the answer of an operation; without a key a request stands for its own message. */
export function keptRequest({ messageId, requestHash }: AcceptRow, rows: readonly Row[]): KeptRequest {
  const kept = rows.at(-1)
  if (kept?.['message_id'] === undefined) return { messageId, requestHash }
  return { messageId: String(kept['message_id']), requestHash: String(kept['request_hash']) }
}

/** The same as `ACCEPT`, but only for the first request with its `Idempotency-Key`. Answers `KEPT_KEYS`, and before it, if the request is the first one, its job. */
export const ACCEPT_ONCE: RowOperation<AcceptRow> = {
  columns: [...ACCEPT.columns, ...KEY_COLUMNS],
  key: 'messageId',
  statements: [...KEEP_KEYS, `${INSERT_MESSAGES} WHERE ${OWN_KEY}`, INSERT_JOBS, KEPT_KEYS],
}
