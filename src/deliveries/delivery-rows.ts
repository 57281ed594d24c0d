import type { RowOperation } from '../db/writer.ts'

/** A POST that is about to be made. */
export interface OpenRow extends Record<string, string | number | null> {
  deliveryId: string
  tenantId: string
  kind: string
  targetId: string
  messageId: string
  correlationId: string
  url: string
  /** The secret that signs the POST, sealed. */
  secret: string
  /** The job id of the message. A message that was erased and has come again has another. */
  jobId: string
  bootId: string
  now: number
}

/** The driver returns a text up to its first NUL, and `length` counts the same. Without this, a URL with a NUL would never match. */
const asRead = (column: string): string => `substr(${column}, 1, length(${column}))`

/**
 * Answers one row, with its `seq`, unless this delivery was attempted before, its message was erased, or its destination
 * is no longer the one given.
 */
export const OPEN: RowOperation<OpenRow> = {
  columns: [
    'deliveryId',
    'tenantId',
    'kind',
    'targetId',
    'messageId',
    'correlationId',
    'url',
    'secret',
    'jobId',
    'bootId',
    'now',
  ],
  key: 'deliveryId',
  statements: [
    `INSERT INTO deliveries (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at)
      SELECT deliveryId, given.tenantId, given.kind, targetId, messageId, correlationId, given.url, bootId, now
      FROM given CROSS JOIN messages ON messages.id = given.messageId AND messages.job_id = given.jobId
      CROSS JOIN tenants ON tenants.id = given.tenantId AND tenants.status = 'active'
      WHERE CASE given.kind
        WHEN 'trigger' THEN EXISTS (SELECT 1 FROM triggers AS t WHERE t.id = targetId AND t.tenant_id = tenants.id
          AND ${asRead('t.callback_url')} = given.url AND t.secret = given.secret)
        ELSE EXISTS (SELECT 1 FROM apps AS a WHERE a.id = targetId AND a.tenant_id = tenants.id AND a.is_active = 1
          AND ${asRead('a.webhook_url')} = given.url AND a.webhook_secret = given.secret) END
      ON CONFLICT (delivery_id) DO NOTHING RETURNING delivery_id AS key, seq`,
  ],
}

/** How a POST ended. */
export interface CloseRow extends Record<string, string | number | null> {
  deliveryId: string
  jobSeq: number
  outcome: string
  statusCode: number | null
  errorClass: string | null
  errorMessage: string | null
  snippet: string | null
  durationMs: number
  /** The trigger to remove, if its URL answered 410. */
  goneTriggerId: string | null
  tenantId: string
}

/** Stores the outcome and deletes the job in one commit. */
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
