import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { attachmentsOf } from '../../messages/media/attachments.ts'
import { reasonOf } from '../../messages/receipts/delivery-codes.ts'
import { type DeliveryState, deliveryStatusOf, loadDeliveryStates } from '../../messages/receipts/delivery-status.ts'
import { countDeliveries } from '../../messages/webhooks/delivery-counts.ts'
import { type MessageWithDelivery, messageOf } from './message.ts'
import { shownWaiting } from '../../messages/sending/waiting.ts'

/**
 * Builds messages from rows. Adds `webhooks` to all, `attachments` to inbound messages and those with media, and `deliveryStatus`,
 * `deliveryError`, `sendAt` and `waiting` to outbound ones.
 */
export async function withDelivery(
  gateway: Gateway,
  { tenantId }: Caller,
  rows: readonly Row[],
): Promise<MessageWithDelivery[]> {
  const { reader } = gateway.database
  const ids = rows.map((row) => String(row['id']))
  const [states, webhooks] = await Promise.all([
    loadDeliveryStates(reader, tenantId, ids),
    countDeliveries(reader, tenantId, ids),
  ])
  const items = rows.map(async (row) => {
    const message = messageOf(row)
    const own = { ...message, webhooks: webhooks.get(message.messageId) ?? null }
    if (message.direction === 'inbound') return { ...own, attachments: attachmentsOf(row['attachments']).length }
    const { messageId: id, status, from, to } = message
    const sendAt = row['send_at'] === null ? null : Number(row['send_at'])
    const state = states.get(id)
    return {
      ...own,
      deliveryStatus: deliveryStatusOf(status, state, gateway.receipts.isPending(Number(row['updated_at']))),
      deliveryError: deliveryErrorOf(state),
      sendAt: sendAt === null ? null : isoTime(sendAt),
      waiting: await shownWaiting(gateway.sending, status, { id, tenantId, from, to, sendAt }),
      ...countOf(row),
    }
  })
  return Promise.all(items)
}

/** Only if there are any: most messages are plain texts. */
function countOf(row: Row): Pick<MessageWithDelivery, 'attachments'> {
  const attachments = attachmentsOf(row['attachments']).length
  return attachments === 0 ? {} : { attachments }
}

const deliveryErrorOf = (state: DeliveryState | undefined): MessageWithDelivery['deliveryError'] =>
  state?.conclusion === 'undelivered' ? { code: state.errorCode, reason: reasonOf(state.errorCode) } : null
