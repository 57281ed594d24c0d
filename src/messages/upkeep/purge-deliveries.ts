import { DAY_MS, DELIVERY_RETENTION_DAYS } from '../../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../../db/batches.ts'
import type { Gateway } from '../gateway.ts'

const STATEMENTS = [
  `DELETE FROM webhook_attempts WHERE seq IN (SELECT seq FROM webhook_attempts WHERE attempted_at < ?1 ORDER BY attempted_at LIMIT ?2) RETURNING seq`,
  // An attempt may be younger than its event, and can be made again as long as it is in the log.
  `DELETE FROM webhook_details WHERE rowid IN (SELECT rowid FROM webhook_details AS old WHERE at < ?1
      AND NOT EXISTS (SELECT 1 FROM webhook_attempts WHERE delivery_id >= old.message_id || ':' AND delivery_id < old.message_id || ';')
    ORDER BY at LIMIT ?2) RETURNING rowid`,
]

/** Deletes attempts and event details older than 30 days, in small batches. Returns how many rows it deleted. */
export function purgeDeliveries(gateway: Gateway): Promise<number> {
  const before = gateway.clock.now() - DELIVERY_RETENTION_DAYS * DAY_MS
  return inBatches(gateway, async () => {
    const results = await gateway.database.writer.write(
      STATEMENTS.map((sql) => ({ sql, args: [before, ROWS_PER_BATCH] })),
    )
    const counts = results.map(({ rows }) => rows.length)
    return { count: counts.reduce((sum, count) => sum + count, 0), last: Math.max(...counts) < ROWS_PER_BATCH }
  })
}
