import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { InboundEvent } from '../../provider/provider.ts'
import type { Gateway } from '../gateway.ts'
import { storeReceived } from './store-received.ts'

type SmsEvent = Extract<InboundEvent, { kind: 'sms' }>

/** The subscription that brought an event; `providerId` is null if it is not known. */
interface Bringer extends ExtensionKey {
  providerId: string | null
}

/** Stores the message of an event, and resolves when it is on disk. False if the event is another tenant's, of which nothing is stored. */
export async function storeEvent(gateway: Gateway, bringer: Bringer, event: SmsEvent): Promise<boolean> {
  if (await namesOtherTenant(gateway, bringer, event)) return false
  await storeReceived(gateway, bringer, event.sms)
  return true
}

/** Whether the event names a subscription or an extension of another tenant than that of the subscription that brought it. */
async function namesOtherTenant(
  gateway: Gateway,
  { tenantId, extensionId, providerId }: Bringer,
  { subscriptionId, ownerId }: SmsEvent,
): Promise<boolean> {
  const sameId = subscriptionId === null || subscriptionId === providerId
  const sameOwner = ownerId === null || ownerId === extensionId
  if (sameId && sameOwner) return false
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT tenant_id FROM subscriptions WHERE provider_id = ?2 AND tenant_id != ?1
      UNION ALL
      SELECT tenant_id FROM extensions WHERE extension_id = ?3 AND tenant_id != ?1
        AND NOT EXISTS (SELECT 1 FROM extensions WHERE extension_id = ?3 AND tenant_id = ?1)`,
    args: [tenantId, sameId ? null : subscriptionId, sameOwner ? null : ownerId],
  })
  return rows.length > 0
}
