import { DAY_MS, DELIVERY_RETENTION_DAYS } from '../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../db/batches.ts'
import type { Gateway } from '../gateway.ts'

/** Deletes webhook deliveries older than 30 days, in small batches. Returns how many it deleted. */
export function purgeDeliveries(gateway: Gateway): Promise<number> {
  const before = gateway.clock.now() - DELIVERY_RETENTION_DAYS * DAY_MS
  const sql = `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries WHERE attempted_at < ?1 ORDER BY attempted_at LIMIT ?2) RETURNING seq`
  return inBatches(gateway, async () => {
    const [deleted] = await gateway.database.writer.write([{ sql, args: [before, ROWS_PER_BATCH] }])
    const count = deleted?.rows.length ?? 0
    return { count, last: count < ROWS_PER_BATCH }
  })
}
