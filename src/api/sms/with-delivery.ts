import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { deliveryStatusOf, loadDeliveryStates } from '../../messages/receipts/delivery-status.ts'
import { type MessageWithDelivery, messageOf } from './message.ts'
import { shownWaiting } from './waiting.ts'

/** Makes messages of rows, and adds `deliveryStatus`, `sendAt` and `waiting` to the outbound ones. */
export async function withDelivery(
  gateway: Gateway,
  { tenantId }: Caller,
  rows: readonly Row[],
): Promise<MessageWithDelivery[]> {
  const ids = rows.filter(isOutbound).map((row) => String(row['id']))
  const states = await loadDeliveryStates(gateway.database.gate, tenantId, ids)
  const items = rows.map(async (row) => {
    const message = messageOf(row)
    if (!isOutbound(row)) return message
    const { messageId: id, status, from, to } = message
    const sendAt = row['send_at'] === null ? null : Number(row['send_at'])
    return {
      ...message,
      deliveryStatus: deliveryStatusOf(status, states.get(id), gateway.receipts.isPending(Number(row['updated_at']))),
      sendAt: sendAt === null ? null : isoTime(sendAt),
      waiting: await shownWaiting(gateway, status, { id, tenantId, from, to, sendAt }),
    }
  })
  return Promise.all(items)
}

const isOutbound = (row: Row): boolean => row['direction'] === 'outbound'
