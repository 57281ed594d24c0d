import type { Statement } from '../db/writer.ts'
import type { Gateway } from '../gateway.ts'

/** Ends attempts whose outcome is unknown. */
const INTERRUPT = `UPDATE deliveries SET outcome = 'network_error', error_class = 'Interrupted', duration_ms = 0,
  error_message = 'The request was interrupted; it may have arrived' WHERE outcome IS NULL`

/** At the start: POSTs that an earlier run began may have arrived. They are recorded as interrupted and never repeated. */
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

/** The same for one delivery of this run whose outcome could not be stored. Only one job at a time works on a delivery. */
export const interrupt = (deliveryId: string): Statement => ({
  sql: `${INTERRUPT} AND delivery_id = ?1`,
  args: [deliveryId],
})
