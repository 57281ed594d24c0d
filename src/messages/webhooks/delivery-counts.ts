import type { Reader } from '../../db/reader.ts'

/** The results of a message's webhooks, by the latest ended attempt of each delivery. */
export interface DeliveryCounts {
  failed: number
  total: number
  /** Of the newest of these attempts; null if it had no response. */
  lastStatusCode: number | null
}

/** Reads only the latest attempts of each delivery: one that was repeated often may have many thousands. */
const COUNTS = `WITH deliveries AS (SELECT DISTINCT value AS message_id, delivery_id FROM json_each(?2)
      CROSS JOIN webhook_attempts INDEXED BY webhook_attempts_by_attempt ON delivery_id > value || ':' AND delivery_id < value || ';'),
    latest AS (SELECT message_id, (SELECT seq FROM webhook_attempts AS own INDEXED BY webhook_attempts_by_attempt
        WHERE own.delivery_id = deliveries.delivery_id AND own.tenant_id = ?1 AND own.outcome IS NOT NULL
        ORDER BY own.attempt_number DESC LIMIT 1) AS seq FROM deliveries)
  SELECT latest.message_id, count(*) AS total, sum(outcome <> 'success') AS failed, max(attempts.seq), attempts.status_code
  FROM latest CROSS JOIN webhook_attempts AS attempts ON attempts.seq = latest.seq GROUP BY 1`

/** Counts the deliveries of a tenant's messages, by message id. Messages without any are left out. */
export async function countDeliveries(
  reader: Pick<Reader, 'longRead'>,
  tenantId: string,
  messageIds: readonly string[],
): Promise<Map<string, DeliveryCounts>> {
  const rows = await reader.longRead(tenantId, COUNTS, [tenantId, JSON.stringify(messageIds)])
  return new Map(
    rows.map(({ message_id: id, failed, total, status_code: code }) => [
      String(id),
      { failed: Number(failed), total: Number(total), lastStatusCode: typeof code === 'number' ? code : null },
    ]),
  )
}
