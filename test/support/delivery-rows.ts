import type { World } from './world.ts'

export interface DeliveryRow {
  messageId: string
  kind: 'app' | 'trigger'
  targetId: string
  outcome: 'success' | 'http_error' | 'timeout' | 'network_error'
  attemptedAt: number
  tenantId?: string
}

/** Writes attempts directly into the log. */
export async function insertDeliveries(world: World, rows: readonly DeliveryRow[]): Promise<void> {
  const sql = `INSERT INTO deliveries (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome, duration_ms)
    SELECT value ->> 'messageId' || ':' || (value ->> 'targetId'), coalesce(value ->> 'tenantId', ?2), value ->> 'kind', value ->> 'targetId',
      value ->> 'messageId', 'cor_0', 'http://127.0.0.1/', 'boot_0', value ->> 'attemptedAt', value ->> 'outcome', 1 FROM json_each(?1)`
  await world.gateway.database.writer.write([{ sql, args: [JSON.stringify(rows), world.tenantId] }])
}

/** Returns the message id of a number, in the contract's form. */
export const messageIdOf = (n: number): string => `msg_${n.toString(16).padStart(12, '0')}`
