import type { RowOperation } from '../../db/writer.ts'

/** A message on its way in, with its job. */
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

const MESSAGE_COLUMNS = `INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, created_at, updated_at)
  SELECT value ->> 'messageId', value ->> 'jobId', value ->> 'tenantId', value ->> 'appId', value ->> 'userId', 'outbound',
    value ->> 'from', value ->> 'to', value ->> 'body', 'queued', value ->> 'now', value ->> 'now'
  FROM json_each(?1)`

const JOB_COLUMNS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
  SELECT value ->> 'jobId', 'send', value ->> 'from', value ->> 'tenantId', value ->> 'messageId', value ->> 'runAt', value ->> 'now'
  FROM json_each(?1)`

/** Message and job in one commit: what a 202 means. */
export const ACCEPT: RowOperation<AcceptRow> = { key: 'messageId', statements: [MESSAGE_COLUMNS, JOB_COLUMNS] }

const OWN_KEY = `EXISTS (SELECT 1 FROM idempotency_keys AS stored WHERE stored.app_id = value ->> 'appId'
  AND stored.key = value ->> 'idempotencyKey' AND stored.message_id = value ->> 'messageId')`

/** Keys that nobody repeats leave with those that come: a few each time, so that no commit is long. */
const FORGET_SOME_EXPIRED = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys
  WHERE created_at < (SELECT min(value ->> 'expiredBefore') FROM json_each(?1)) ORDER BY created_at LIMIT 100)`

/**
 * The same, but only for the first request with its `Idempotency-Key`. Answers one row for each request:
 * the message that the key stands for, and the hash of the request that came first.
 */
export const ACCEPT_ONCE: RowOperation<AcceptRow> = {
  key: 'messageId',
  statements: [
    `DELETE FROM idempotency_keys WHERE rowid IN (SELECT stored.rowid FROM json_each(?1)
      JOIN idempotency_keys AS stored ON stored.app_id = value ->> 'appId' AND stored.key = value ->> 'idempotencyKey'
      WHERE stored.created_at < value ->> 'expiredBefore')`,
    FORGET_SOME_EXPIRED,
    `INSERT INTO idempotency_keys (app_id, key, request_hash, message_id, created_at)
      SELECT value ->> 'appId', value ->> 'idempotencyKey', value ->> 'requestHash', value ->> 'messageId', value ->> 'now'
      FROM json_each(?1) WHERE true ON CONFLICT (app_id, key) DO NOTHING`,
    `${MESSAGE_COLUMNS} WHERE ${OWN_KEY}`,
    `${JOB_COLUMNS} WHERE ${OWN_KEY}`,
    `SELECT value ->> 'messageId' AS key, stored.message_id, stored.request_hash FROM json_each(?1)
      JOIN idempotency_keys AS stored ON stored.app_id = value ->> 'appId' AND stored.key = value ->> 'idempotencyKey'`,
  ],
}
