import { DAY_MS, HALF_HOUR_MS, USAGE_RETENTION_DAYS } from '../core/limits.ts'
import type { Gateway } from '../gateway.ts'

/** Deletes counts that are past their retention. The tables are small: a row counts all messages of an app in half an hour. */
export async function purgeUsage({ database, clock }: Gateway): Promise<void> {
  const before = Math.floor((clock.now() - USAGE_RETENTION_DAYS * DAY_MS) / HALF_HOUR_MS)
  const { rows } = await database.gate.execute('SELECT id FROM tenants')
  for (const { id } of rows)
    await database.writer.write(
      ['usage', 'usage_errors', 'usage_destinations'].map((table) => ({
        sql: `DELETE FROM ${table} WHERE tenant_id = ?1 AND half_hour < ?2`,
        args: [String(id), before],
      })),
    )
}
