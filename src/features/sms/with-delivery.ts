import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { ListPage } from '../../db/lists/list.ts'
import type { Gateway } from '../../gateway.ts'
import { deliveryStatusOf, loadDeliveryStates } from '../../tracking/delivery-status.ts'
import { shownWaiting } from './waiting.ts'

/** The fields of a listed message that are needed here. */
const Listed = z.looseObject({
  messageId: z.string(),
  direction: z.string(),
  status: z.string(),
  from: z.string(),
  to: z.string(),
  updatedAt: z.string(),
})
type Listed = z.infer<typeof Listed>

/**
 * Adds `deliveryStatus`, `sendAt` and `waiting` to the outbound messages of a page. `waiting` comes from memory, which SQL
 * cannot read.
 */
export async function withDelivery(gateway: Gateway, { tenantId }: Caller, page: ListPage): Promise<ListPage> {
  const messages = z.array(Listed).parse(JSON.parse(`[${page.items}]`))
  const ids = messages.filter(isOutbound).map(({ messageId }) => messageId)
  const { gate } = gateway.database
  const states = await loadDeliveryStates(gate, tenantId, ids)
  const sendTimes = await loadSendTimes(gateway, tenantId, ids)
  const items = messages.map(async (message) => {
    const { messageId: id, status, from, to, updatedAt } = message
    if (!isOutbound(message)) return JSON.stringify(message)
    const sendAt = sendTimes.get(id) ?? null
    return JSON.stringify({
      ...message,
      deliveryStatus: deliveryStatusOf(status, states.get(id), gateway.tracking.isPending(Date.parse(updatedAt))),
      sendAt: sendAt === null ? null : isoTime(sendAt),
      waiting: await shownWaiting(gateway, status, { id, tenantId, from, to, sendAt }),
    })
  })
  return { total: page.total, items: (await Promise.all(items)).join(',') }
}

const isOutbound = ({ direction }: Listed): boolean => direction === 'outbound'

/** The `sendAt` of messages that were scheduled, epoch milliseconds. */
async function loadSendTimes(
  { database }: Gateway,
  tenantId: string,
  messageIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await database.gate.execute({
    sql: `SELECT messages.id, messages.send_at FROM json_each(?2)
      CROSS JOIN messages ON messages.id = value AND messages.tenant_id = ?1 WHERE messages.send_at IS NOT NULL`,
    args: [tenantId, JSON.stringify(messageIds)],
  })
  return new Map(rows.map((row) => [String(row['id']), Number(row['send_at'])]))
}
