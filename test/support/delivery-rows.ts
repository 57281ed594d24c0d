import type { World } from './world.ts'

export interface DeliveryRow {
  messageId: string
  kind: 'app' | 'trigger'
  targetId: string
  outcome: 'success' | 'http_error' | 'timeout' | 'network_error'
  attemptedAt: number
  tenantId?: string
}

/** Writes attempts straight into the log, as if they had been made. */
export async function insertDeliveries(world: World, rows: readonly DeliveryRow[]): Promise<void> {
  const sql = `INSERT INTO deliveries (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome, duration_ms)
    SELECT value ->> 'messageId' || ':' || (value ->> 'targetId'), coalesce(value ->> 'tenantId', ?2), value ->> 'kind', value ->> 'targetId',
      value ->> 'messageId', 'cor_0', 'http://127.0.0.1/', 'boot_0', value ->> 'attemptedAt', value ->> 'outcome', 1 FROM json_each(?1)`
  await world.gateway.database.writer.write([{ sql, args: [JSON.stringify(rows), world.tenantId] }])
}

/** A message id of the contract's form, by number. */
export const messageIdOf = (n: number): string => `msg_${n.toString(16).padStart(12, '0')}`
