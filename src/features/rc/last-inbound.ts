import type { Gateway } from '../../gateway.ts'

const NEWEST = `SELECT to_number AS number, max(created_at) AS at FROM messages
  WHERE tenant_id = ?1 AND direction = 'inbound' GROUP BY to_number`

/** When the newest message to each of the tenant's numbers was stored, epoch milliseconds. */
export async function readLastInbound({ database }: Gateway, tenantId: string): Promise<Map<string, number>> {
  const rows = await database.reader.longRead(tenantId, NEWEST, [tenantId])
  return new Map(rows.map((row) => [String(row['number']), Number(row['at'])]))
}
