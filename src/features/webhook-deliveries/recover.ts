import type { Gateway } from '../../gateway.ts'

/** At the start: POSTs that another run began may or may not have arrived. They are recorded, never repeated. */
export async function closeInterrupted(gateway: Gateway): Promise<number> {
  const [closed] = await gateway.database.writer.write([
    {
      sql: `UPDATE deliveries SET outcome = 'network_error', error_class = 'Interrupted', duration_ms = 0,
        error_message = 'The gateway stopped during the request; it may have arrived'
        WHERE outcome IS NULL AND boot_id != ?1 RETURNING delivery_id`,
      args: [gateway.bootId],
    },
    { sql: `DELETE FROM jobs WHERE kind = 'webhook' AND subject IN (SELECT delivery_id FROM deliveries WHERE outcome IS NOT NULL)`, args: [] },
  ])
  return closed?.rows.length ?? 0
}
