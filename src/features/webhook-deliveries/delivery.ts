import type { SealContext } from '../../core/secrets.ts'
import type { DeliveryKind } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'

/** One delivery: a message and where it goes. `url` and `secret` are null when the destination wants no more. */
export interface Delivery {
  deliveryId: string
  kind: DeliveryKind
  targetId: string
  url: string | null
  secret: string | null
  messageId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  receivingExtensionId: string | null
  timestamp: number
  correlationId: string
}

/** Reads deliveries by id, all of a pick in one query. */
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
  const deliveryId = String(row['delivery_id'])
  const targetId = deliveryId.slice(deliveryId.indexOf(':') + 1)
  return {
    deliveryId,
    kind: targetId.startsWith('trg_') ? 'trigger' : 'app',
    targetId,
    url: typeof row['url'] === 'string' ? row['url'] : null,
    secret: typeof row['secret'] === 'string' ? row['secret'] : null,
    messageId: String(row['id']),
    from: String(row['from_number']),
    to: String(row['to_number']),
    body: String(row['body']),
    rcMessageId: String(row['rc_message_id']),
    receivingExtensionId: typeof row['receiving_extension_id'] === 'string' ? row['receiving_extension_id'] : null,
    timestamp: Number(row['created_at']),
    correlationId: correlationOf(String(row['job_id'])),
  }
}

/** The jobs of one provider event share their id, which names what its deliveries share. */
const correlationOf = (jobId: string): string => jobId.replace(/^job_/, 'cor_')

export const sealContextOf = (tenantId: string, delivery: Pick<Delivery, 'kind' | 'targetId'>): SealContext => ({
  tenantId,
  row: delivery.targetId,
  purpose: delivery.kind === 'app' ? 'webhook_secret' : 'trigger_secret',
})
