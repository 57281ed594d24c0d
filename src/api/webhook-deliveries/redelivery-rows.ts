import { FAILED_IN_STEP } from './failed-range.ts'

/** SQL: whether the row `latest` of `webhook_attempts` has a destination that can be posted to. */
export const HAS_DESTINATION = `CASE latest.kind
  WHEN 'trigger' THEN EXISTS (SELECT 1 FROM triggers WHERE triggers.id = latest.target_id AND triggers.tenant_id = latest.tenant_id)
  ELSE EXISTS (SELECT 1 FROM apps WHERE apps.id = latest.target_id AND apps.tenant_id = latest.tenant_id
    AND apps.is_active = 1 AND apps.webhook_url IS NOT NULL) END`

/**
 * SQL that schedules an attempt at `now` for each delivery whose latest row `where` selects. A waiting retry keeps its step of the schedule. A
 * retry that is already due, or an attempt in progress, is not changed.
 */
const redelivery = (
  where: string,
  now: string,
): string => `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at, is_last)
  SELECT messages.job_id, 'webhook_retry', latest.target_id, latest.tenant_id, latest.delivery_id, ${now}, ${now}, 1
  FROM webhook_attempts AS latest
  CROSS JOIN messages ON messages.id = latest.message_id AND messages.tenant_id = latest.tenant_id
  WHERE latest.tenant_id = ?1 AND latest.outcome IS NOT NULL AND ${HAS_DESTINATION}
    AND NOT EXISTS (SELECT 1 FROM jobs AS due
      WHERE due.tenant_id = ?1 AND due.kind = 'webhook_retry' AND due.subject = latest.delivery_id AND due.due_at <= ${now})
    AND ${where}
  ON CONFLICT (subject) WHERE kind = 'webhook_retry' DO UPDATE SET due_at = excluded.due_at
  RETURNING lane, (SELECT max(attempt_number) + 1 FROM webhook_attempts WHERE webhook_attempts.tenant_id = ?1 AND delivery_id = subject) AS attempt_number`

/** `?1`: the tenant, `?2`: the delivery, `?3`: now. Reads only its latest attempt, because there may be thousands. */
export const REDELIVER = redelivery(
  `latest.seq = (SELECT own.seq FROM webhook_attempts AS own WHERE own.tenant_id = ?1 AND own.delivery_id = ?2
    ORDER BY own.attempt_number DESC LIMIT 1)`,
  '?3',
)

/** Schedules attempts for the failures of one step (`FAILED_IN_STEP`). `?9`: the limit, `?10`: now. */
export const RECOVER = redelivery(`${FAILED_IN_STEP} ORDER BY latest.attempted_at, latest.seq LIMIT ?9`, '?10')
