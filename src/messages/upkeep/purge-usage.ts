import { and, eq, lt } from 'drizzle-orm'
import { DAY_MS, HALF_HOUR_MS, USAGE_RETENTION_DAYS } from '../../core/limits.ts'
import { tenants, webhookDestinations } from '../../db/schema/index.ts'
import type { Gateway } from '../gateway.ts'

const TABLES = ['usage', 'usage_errors', 'usage_destinations'] as const

/** Deletes counts and destinations past their retention, one half hour of a tenant at a time: after a clock error there may be years of them. */
export async function purgeUsage(gateway: Gateway): Promise<void> {
  const { database, clock, lifecycle } = gateway
  const before = Math.floor((clock.now() - USAGE_RETENTION_DAYS * DAY_MS) / HALF_HOUR_MS)
  for (const { tenantId } of await database.orm.select({ tenantId: tenants.id }).from(tenants)) {
    for (const table of TABLES) while (!lifecycle.draining && (await purgeOldest(gateway, table, tenantId, before)));
    await database.orm
      .delete(webhookDestinations)
      .where(and(eq(webhookDestinations.tenantId, tenantId), lt(webhookDestinations.endedAt, before * HALF_HOUR_MS)))
  }
}

/** Deletes the oldest half hour of a tenant. Returns false if none is past its retention. */
async function purgeOldest(
  { database }: Gateway,
  table: (typeof TABLES)[number],
  tenantId: string,
  before: number,
): Promise<boolean> {
  const oldest = `SELECT min(half_hour) AS oldest FROM ${table} WHERE tenant_id = ?1`
  const { rows } = await database.gate.execute({ sql: oldest, args: [tenantId] })
  const halfHour = rows[0]?.['oldest']
  if (typeof halfHour !== 'number' || halfHour >= before) return false
  const sql = `DELETE FROM ${table} WHERE tenant_id = ?1 AND half_hour = ?2`
  await database.writer.write([{ sql, args: [tenantId, halfHour] }])
  return true
}
