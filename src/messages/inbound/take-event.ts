import type { TenantEntry } from '../../provider/directory.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { InboundEvent } from '../../provider/provider.ts'
import type { Gateway } from '../gateway.ts'
import { counts, isFromBefore } from '../../provider/inbound-source.ts'
import { providerNow } from '../../provider/provider-time.ts'
import { type InboundSms, inE164, storeInbound } from './store-inbound.ts'
import { inboundOf } from './inbound-sms.ts'

type SmsEvent = Extract<InboundEvent, { kind: 'sms' }>
type AnyEvent = Exclude<InboundEvent, { kind: 'ignored' }>

/** The subscription that brought an event; `providerId` is null if it is not known. */
interface Bringer extends ExtensionKey {
  providerId: string | null
}

/**
 * Stores the message of an event, and resolves when it is on disk; an event of threads or consents only causes a reading. False if the event
 * is another tenant's: then nothing is stored.
 */
export async function takeEvent(gateway: Gateway, bringer: Bringer, event: AnyEvent): Promise<boolean> {
  if (await namesOtherTenant(gateway, bringer, event)) return false
  if (event.kind === 'sms') await storeEvent(gateway, bringer, event)
  else gateway[event.kind].changed(bringer)
  return true
}

async function storeEvent(gateway: Gateway, bringer: Bringer, event: SmsEvent): Promise<void> {
  const received = inE164(gateway, await inboundOf(gateway, bringer, event.sms))
  // Each await would cost every text part of a microsecond.
  const sms = received instanceof Promise ? await received : received
  const tenant = gateway.directory.known(sms.tenantId) ?? (await gateway.directory.tenant(sms.tenantId))
  if (comesBy(gateway, tenant, sms)) await storeInbound(gateway, sms)
  else
    gateway.log.debug({ providerMessageId: sms.providerMessageId }, 'event of a number whose texts are read in threads')
}

/**
 * Whether the events of the message store bring the texts of this number. For a text from before a change, a back-fill decides, because it has
 * both sources.
 */
function comesBy(gateway: Gateway, { numbers }: TenantEntry, { to, createdAt }: InboundSms): boolean {
  const { directory, clock } = gateway
  const row = numbers.get(to)
  if (row === undefined || (row.inboundSource !== 'threads' && row.sourceChangedAt === null)) return true
  const at = createdAt ?? providerNow(gateway)
  if (isFromBefore(row, at)) return false
  return counts(directory, row, { source: 'store', createdAt: at, now: clock.now() })
}

/** Whether the event names a subscription or an extension of a different tenant than that of the subscription that brought it. */
async function namesOtherTenant(
  gateway: Gateway,
  { tenantId, extensionId, providerId }: Bringer,
  { subscriptionId, ownerId }: AnyEvent,
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
