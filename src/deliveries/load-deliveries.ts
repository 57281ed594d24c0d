import type { Gateway } from '../gateway.ts'
import { type Delivery, deliveryOf } from './delivery.ts'

/** Reads deliveries by id in one query. */
export async function loadDeliveries(gateway: Gateway, deliveryIds: string[]): Promise<Map<string, Delivery>> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT value AS delivery_id, m.id, m.job_id, m.from_number, m.to_number, m.body, m.rc_message_id, m.receiving_extension_id,
        m.created_at, triggers.id AS trigger_id, coalesce(triggers.callback_url, apps.webhook_url) AS url,
        coalesce(triggers.secret, apps.webhook_secret) AS secret
      FROM json_each(?1)
      JOIN messages AS m ON m.id = substr(value, 1, instr(value, ':') - 1)
      LEFT JOIN tenants ON tenants.id = m.tenant_id AND tenants.status = 'active'
      LEFT JOIN apps ON apps.id = substr(value, instr(value, ':') + 1) AND apps.tenant_id = tenants.id AND apps.is_active = 1
      LEFT JOIN triggers ON triggers.id = substr(value, instr(value, ':') + 1) AND triggers.tenant_id = tenants.id`,
    args: [JSON.stringify(deliveryIds)],
  })
  return new Map(rows.map((row) => [String(row['delivery_id']), toDelivery(row)]))
}

function toDelivery(row: Record<string, unknown>): Delivery {
  const message = {
    messageId: String(row['id']),
    from: String(row['from_number']),
    to: String(row['to_number']),
    body: String(row['body']),
    rcMessageId: String(row['rc_message_id']),
    receivingExtensionId: textOf(row['receiving_extension_id']),
    timestamp: Number(row['created_at']),
  }
  const deliveryId = String(row['delivery_id'])
  const targetId = deliveryId.slice(deliveryId.indexOf(':') + 1)
  const target = { targetId, url: textOf(row['url']), secret: textOf(row['secret']) }
  return deliveryOf(message, target, String(row['job_id']))
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
