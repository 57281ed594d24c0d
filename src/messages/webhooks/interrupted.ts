import { RESTORED_BOOT } from '../../db/restore-mark.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../gateway.ts'
import type { Job } from '../jobs/job.ts'
import type { PostResult } from '../../net/outbound/webhook-poster.ts'
import { type OpenDeliveryAttempt, closeAttempt } from './close-attempt.ts'
import { noteInterrupted } from './unposted.ts'

/**
 * Closes the attempts that an earlier process left open. Call it at the start. Their POSTs may have arrived, and they count as
 * failures: with the policy `none` the delivery ends, otherwise its schedule continues. Returns how many there were.
 */
export async function closeInterrupted(gateway: Gateway): Promise<number> {
  const { database } = gateway
  const { rows } = await database.gate.execute({ sql: `${OPEN_ATTEMPTS} AND boot_id != ?1`, args: [gateway.bootId] })
  await closeAll(gateway, rows)
  await database.writer.write([
    {
      // The upgrade from 1.0.0 created a job for each destination, even if it had already had its attempt.
      sql: `DELETE FROM jobs WHERE kind = 'webhook' AND EXISTS (
        SELECT 1 FROM webhook_attempts WHERE delivery_id = jobs.subject AND outcome IS NOT NULL)`,
      args: [],
    },
  ])
  return rows.length
}

/** Closes the open attempts of a delivery of this process whose outcome could not be stored. Returns false if there are none. */
export async function closeLeftOpen(gateway: Gateway, { seq, subject }: Job): Promise<boolean> {
  const sql = `SELECT seq, attempt_number, kind, target_id, tenant_id, boot_id, ?2 AS job_seq
    FROM webhook_attempts WHERE delivery_id = ?1 AND outcome IS NULL`
  const { rows } = await gateway.database.gate.execute({ sql, args: [subject, seq] })
  await closeAll(gateway, rows)
  return rows.length > 0
}

/** They are recorded first: a crash in between leaves them open, and the next start finds them again. */
async function closeAll(gateway: Gateway, rows: readonly Row[]): Promise<void> {
  const attempts = rows.map(attemptOf)
  await noteInterrupted(
    gateway,
    attempts.map(({ seq }) => seq),
  )
  await Promise.all(attempts.map((attempt, at) => closeAttempt(gateway, attempt, interrupted(rows[at]?.['boot_id']))))
}

/** SQLite builds an index for the CTE. The jobs have no index by subject that covers first attempts. */
const OPEN_ATTEMPTS = `WITH waiting AS MATERIALIZED (
    SELECT seq, subject FROM jobs WHERE kind = 'webhook' UNION ALL SELECT seq, subject FROM jobs WHERE kind = 'webhook_retry')
  SELECT webhook_attempts.seq, attempt_number, webhook_attempts.kind, target_id, tenant_id, boot_id, waiting.seq AS job_seq
  FROM webhook_attempts LEFT JOIN waiting ON waiting.subject = delivery_id WHERE outcome IS NULL`

const attemptOf = (row: Row): OpenDeliveryAttempt => ({
  seq: Number(row['seq']),
  attemptNumber: Number(row['attempt_number']),
  jobSeq: row['job_seq'] === null ? null : Number(row['job_seq']),
  kind: String(row['kind']),
  targetId: String(row['target_id']),
  tenantId: String(row['tenant_id']),
})

const interrupted = (bootId: unknown): PostResult => ({
  outcome: 'network_error',
  statusCode: null,
  errorClass: 'Interrupted',
  errorMessage:
    bootId === RESTORED_BOOT
      ? 'The database was restored from a backup; the request may have been made before'
      : 'The request was interrupted; it may have arrived',
  snippet: null,
  retryAfterMs: null,
  durationMs: 0,
})
