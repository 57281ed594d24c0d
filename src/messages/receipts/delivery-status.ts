import type { Row } from '../../db/connection.ts'
import type { Reader } from '../../db/reader.ts'
import { DELIVERY_CONCLUSIONS, type DeliveryConclusion } from '../../db/schema/delivery-states.ts'

export type DeliveryStatus = 'pending' | DeliveryConclusion

/** The row of a tracked message. */
export interface DeliveryState {
  /** Null while the provider may still report a final status. */
  conclusion: DeliveryConclusion | null
  errorCode: string | null
  /** When the gateway learned it, epoch milliseconds. */
  concludedAt: number | null
}

/** The delivery states of a tenant's messages, by message id. Messages that are not tracked have none. */
export async function loadDeliveryStates(
  reader: Pick<Reader, 'longRead'>,
  tenantId: string,
  messageIds: readonly string[],
): Promise<Map<string, DeliveryState>> {
  const sql = `SELECT messages.id, state.conclusion, state.error_code, state.concluded_at FROM json_each(?2)
      CROSS JOIN messages ON messages.id = value AND messages.tenant_id = ?1
      CROSS JOIN delivery_states AS state ON state.message_seq = messages.seq AND state.tenant_id = ?1`
  const rows = await reader.longRead(tenantId, sql, [tenantId, JSON.stringify(messageIds)])
  return new Map(rows.map((row) => [String(row['id']), stateOf(row)]))
}

/** The `deliveryStatus` of the API. `isPending`: the provider may still report a final status. Returns null if the gateway did not send the message. */
export function deliveryStatusOf(
  status: unknown,
  state: DeliveryState | undefined,
  isPending: boolean,
): DeliveryStatus | null {
  if (status !== 'sent') return null
  return state?.conclusion ?? (isPending ? 'pending' : 'unknown')
}

const stateOf = (row: Row): DeliveryState => ({
  conclusion: DELIVERY_CONCLUSIONS.find((conclusion) => conclusion === row['conclusion']) ?? null,
  errorCode: row['error_code'] === null ? null : String(row['error_code']),
  concludedAt: row['concluded_at'] === null ? null : Number(row['concluded_at']),
})
