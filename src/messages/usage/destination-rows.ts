import { HALF_HOUR_MS } from '../../core/limits.ts'
import type { DeliveryOutcome } from '../../db/schema/webhooks.ts'
import type { UsageReads } from './overview.ts'

// Statements of the commit that ends webhook attempts. They come before the statement that stores the outcomes. `latencyMs` is a
// class of `latencyClass`.

const ENDING = `FROM input
  CROSS JOIN webhook_attempts AS ending ON ending.seq = input.attemptSeq AND ending.outcome IS NULL WHERE true`

const ENDED_AT = 'CAST(ending.attempted_at + input.durationMs AS INTEGER)'

/** Counts the attempts by destination and half hour. */
export const COUNT_ATTEMPTS = `INSERT INTO usage_destinations (tenant_id, half_hour, target_id, duration_ms, kind, url, success, failed)
  SELECT ending.tenant_id, ${ENDED_AT} / ${HALF_HOUR_MS}, ending.target_id, input.latencyMs, ending.kind, ending.url,
    input.outcome = 'success', input.outcome <> 'success' ${ENDING}
  ON CONFLICT (tenant_id, half_hour, target_id, duration_ms)
    DO UPDATE SET url = excluded.url, success = success + excluded.success, failed = failed + excluded.failed`

/** Updates the state of each destination. */
export const NOTE_OUTCOMES = `INSERT INTO webhook_destinations
    (tenant_id, target_id, kind, last_outcome, last_status_code, failing_since, failures, ended_at)
  SELECT ending.tenant_id, ending.target_id, ending.kind, input.outcome, input.statusCode,
    CASE WHEN input.outcome <> 'success' THEN ending.attempted_at END, input.outcome <> 'success', ${ENDED_AT} ${ENDING}
  ON CONFLICT (tenant_id, target_id) DO UPDATE SET
    last_outcome = excluded.last_outcome, last_status_code = excluded.last_status_code, ended_at = excluded.ended_at,
    failing_since = CASE WHEN excluded.failures = 1 THEN coalesce(failing_since, excluded.failing_since) END,
    failures = CASE WHEN excluded.failures = 1 THEN failures + 1 ELSE 0 END`

/** Whether a destination is still in use: its app is active and has an address, or its trigger exists. */
export const IS_IN_USE = `CASE kind WHEN 'trigger' THEN EXISTS (SELECT 1 FROM triggers WHERE id = target_id)
  ELSE EXISTS (SELECT 1 FROM apps WHERE id = target_id AND is_active = 1 AND webhook_url IS NOT NULL) END`

/** The state of a webhook destination. */
export interface DestinationState {
  lastOutcome: DeliveryOutcome
  /** Null if the last attempt had no response. */
  lastStatusCode: number | null
  /**
   * When the first failed attempt since the last success began, epoch milliseconds. Null if the last attempt succeeded, or the destination is no
   * longer in use.
   */
  failingSince: number | null
  /** Failed attempts since then; 0 if `failingSince` is null. */
  failures: number
  /** When the next retry is due, in steady time; null if none is planned, or nothing fails. */
  nextDueAt: number | null
}

/** Reads the states of a tenant's destinations, by app or trigger id. */
export async function readDestinationStates(
  { database }: UsageReads,
  tenantId: string,
): Promise<Map<string, DestinationState>> {
  const sql = `SELECT target_id, last_outcome, last_status_code, CASE WHEN ${IS_IN_USE} THEN failing_since END AS failing_since, failures,
      (SELECT min(due_at) FROM jobs INDEXED BY jobs_by_due_time WHERE kind = 'webhook_retry' AND lane = target_id AND tenant_id = ?1) AS next_due_at
    FROM webhook_destinations WHERE tenant_id = ?1`
  const rows = await database.reader.longRead(tenantId, sql, [tenantId])
  const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)
  return new Map(
    rows.map((row) => [
      String(row['target_id']),
      {
        lastOutcome: row['last_outcome'] as DeliveryOutcome,
        lastStatusCode: numberIn(row['last_status_code']),
        failingSince: numberIn(row['failing_since']),
        failures: row['failing_since'] === null ? 0 : Number(row['failures']),
        nextDueAt: row['failing_since'] === null ? null : numberIn(row['next_due_at']),
      },
    ]),
  )
}
