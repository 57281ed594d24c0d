import { DAY_MS, DELIVERY_RETENTION_DAYS } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'

const ROWS_PER_BATCH = 500
const PAUSE_MS = 50

/** Deletes attempts older than 30 days, a few at a time, so that nobody waits. Answers how many went. */
export async function purgeDeliveries(gateway: Gateway): Promise<number> {
  const before = gateway.clock.now() - DELIVERY_RETENTION_DAYS * DAY_MS
  const sql = `DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries WHERE attempted_at < ?1 ORDER BY attempted_at LIMIT ?2) RETURNING seq`
  for (let total = 0; ; ) {
    const [deleted] = await gateway.database.writer.write([{ sql, args: [before, ROWS_PER_BATCH] }])
    const count = deleted?.rows.length ?? 0
    total += count
    if (count < ROWS_PER_BATCH) return total
    await new Promise<void>((resolve) => gateway.clock.after(PAUSE_MS, resolve))
  }
}
