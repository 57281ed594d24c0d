import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'

/** An attempt whose outcome nobody saw. */
const INTERRUPT = `UPDATE deliveries SET outcome = 'network_error', error_class = 'Interrupted', duration_ms = 0,
  error_message = 'The request was interrupted; it may have arrived' WHERE outcome IS NULL`

/** At the start: POSTs that another run began may or may not have arrived. They are recorded, never repeated. */
export async function closeInterrupted(gateway: Gateway): Promise<number> {
  const [closed] = await gateway.database.writer.write([
    { sql: `${INTERRUPT} AND boot_id != ?1 RETURNING delivery_id`, args: [gateway.bootId] },
    {
      sql: `DELETE FROM jobs WHERE kind = 'webhook' AND EXISTS (
        SELECT 1 FROM deliveries WHERE delivery_id = jobs.subject AND outcome IS NOT NULL)`,
      args: [],
    },
  ])
  return closed?.rows.length ?? 0
}

/** The same for one delivery of this run, when its outcome could not be stored: only one job at a time works on it. */
export const interrupt = (deliveryId: string): Statement => ({
  sql: `${INTERRUPT} AND delivery_id = ?1`,
  args: [deliveryId],
})
