import { type Row, textOrNull } from '../../db/connection.ts'
import type { Gateway } from '../gateway.ts'
import { attachmentsOf } from '../media/attachments.ts'
import { type Delivery, type DeliveryAddress, addressOf, correlationOf } from './delivery.ts'
import { payloadOf } from './payload.ts'

/** Reads deliveries by id in one query. */
export async function loadDeliveries({ database }: Gateway, deliveryIds: string[]): Promise<Map<string, Delivery>> {
  const addresses = deliveryIds.map(addressOf)
  const { rows } = await database.gate.execute({
    sql: `SELECT wanted.key AS position, m.*, coalesce(triggers.callback_url, apps.webhook_url) AS url,
        coalesce(triggers.secret, apps.webhook_secret) AS secret, own.at, own.detail
      FROM json_each(?1) AS wanted
      JOIN messages AS m ON m.id = wanted.value ->> 'messageId'
      LEFT JOIN webhook_details AS own ON own.message_id = m.id AND own.event = wanted.value ->> 'event'
      LEFT JOIN tenants ON tenants.id = m.tenant_id AND tenants.status = 'active'
      LEFT JOIN apps ON apps.id = wanted.value ->> 'targetId' AND apps.tenant_id = tenants.id AND apps.is_active = 1
      LEFT JOIN triggers ON triggers.id = wanted.value ->> 'targetId' AND triggers.tenant_id = tenants.id`,
    args: [JSON.stringify(addresses)],
  })
  const deliveries = rows.flatMap((row) => {
    const address = addresses[Number(row['position'])]
    return address === undefined || isForgotten(address, row) ? [] : [toDelivery(address, row)]
  })
  return new Map(deliveries.map((delivery) => [delivery.deliveryId, delivery]))
}

/** Whether the details of the event are past their retention, for example because its tenant was suspended for a month. */
const isForgotten = ({ event }: DeliveryAddress, row: Row): boolean =>
  (event === 'sms_delivery' || event === 'opt_out') && row['detail'] === null

function toDelivery(address: DeliveryAddress, row: Row): Delivery {
  const { deliveryId, messageId, targetId, event } = address
  return {
    deliveryId,
    messageId,
    tenantId: String(row['tenant_id']),
    kind: targetId.startsWith('trg_') ? 'trigger' : 'app',
    targetId,
    url: textOrNull(row['url']),
    secret: textOrNull(row['secret']),
    correlationId: correlationOf(String(row['job_id'])),
    payload: payloadOf(event, row),
    attachments: event === 'sms_inbound' ? attachmentsOf(row['attachments']).length : 0,
  }
}
