import type { RowOperation } from '../../db/writer.ts'

/** A message that is to become deliveries. */
export interface FanOutRow extends Record<string, string | number> {
  jobSeq: number
  jobId: string
  tenantId: string
  messageId: string
  runAt: number
  now: number
}

const WEBHOOK_JOBS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
  SELECT given.jobId, 'webhook', target.id, given.tenantId, given.messageId || ':' || target.id, given.runAt, given.now
  FROM given
  CROSS JOIN jobs AS own ON own.seq = given.jobSeq
  CROSS JOIN tenants ON tenants.id = given.tenantId AND tenants.status = 'active'`

/**
 * One `webhook` job for each app and trigger that wants the message, in one commit with the end of the fan-out itself,
 * so that it happens once. A tenant that is not active gets none. A delivery's id is `<messageId>:<appId or triggerId>`,
 * and its lane is its destination. Answers a row for each.
 */
export const FAN_OUT: RowOperation<FanOutRow> = {
  columns: ['jobSeq', 'jobId', 'tenantId', 'messageId', 'runAt', 'now'],
  key: 'jobId',
  statements: [
    `${WEBHOOK_JOBS} CROSS JOIN apps AS target ON target.tenant_id = tenants.id AND target.is_active = 1 AND target.webhook_url IS NOT NULL
      RETURNING id AS key, lane`,
    `${WEBHOOK_JOBS} CROSS JOIN triggers AS target ON target.tenant_id = tenants.id RETURNING id AS key, lane`,
    'DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM given)',
  ],
}

/** A POST that is about to be made. */
export interface OpenRow extends Record<string, string | number | null> {
  deliveryId: string
  tenantId: string
  kind: string
  targetId: string
  messageId: string
  correlationId: string
  url: string
  bootId: string
  now: number
}

/** Answers one row, with its `seq`, unless this delivery was attempted before. */
export const OPEN: RowOperation<OpenRow> = {
  columns: ['deliveryId', 'tenantId', 'kind', 'targetId', 'messageId', 'correlationId', 'url', 'bootId', 'now'],
  key: 'deliveryId',
  statements: [
    `INSERT INTO deliveries (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at)
      SELECT deliveryId, tenantId, kind, targetId, messageId, correlationId, url, bootId, now FROM given WHERE true
      ON CONFLICT (delivery_id) DO NOTHING RETURNING delivery_id AS key, seq`,
  ],
}

/** How it ended. */
export interface CloseRow extends Record<string, string | number | null> {
  deliveryId: string
  jobSeq: number
  outcome: string
  statusCode: number | null
  errorClass: string | null
  errorMessage: string | null
  snippet: string | null
  durationMs: number
  /** The trigger that goes with it, if it answered that it is gone. */
  goneTriggerId: string | null
  tenantId: string
}

/** Outcome and end of the job in one commit. */
export const CLOSE: RowOperation<CloseRow> = {
  columns: [
    'deliveryId',
    'jobSeq',
    'outcome',
    'statusCode',
    'errorClass',
    'errorMessage',
    'snippet',
    'durationMs',
    'goneTriggerId',
    'tenantId',
  ],
  key: 'deliveryId',
  statements: [
    `UPDATE deliveries SET outcome = given.outcome, status_code = statusCode, error_class = errorClass, error_message = errorMessage,
        response_snippet = snippet, duration_ms = durationMs
      FROM given WHERE deliveries.delivery_id = given.deliveryId AND deliveries.outcome IS NULL`,
    'DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM given)',
    `DELETE FROM triggers WHERE seq IN (SELECT gone.seq FROM given
      CROSS JOIN triggers AS gone ON gone.id = given.goneTriggerId AND gone.tenant_id = given.tenantId)`,
  ],
}
