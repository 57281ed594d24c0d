import type { Subscription } from '../../auth/subscription-tokens.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { InboundEvent } from '../../provider/provider.ts'
import { storeReceived } from '../../messages/inbound/store-received.ts'

const MAX_TOKEN_LENGTH = 512

/** Finds the subscription of an event by its token, before the body is read. Errors: `badVerificationToken`. */
export function verify(gateway: Gateway, verificationToken: string | null): Subscription | Promise<Subscription> {
  if (verificationToken === null || verificationToken === '' || verificationToken.length > MAX_TOKEN_LENGTH)
    throw apiError('badVerificationToken')
  return gateway.subscriptionTokens.known(verificationToken) ?? findSubscription(gateway, verificationToken)
}

async function findSubscription(gateway: Gateway, verificationToken: string): Promise<Subscription> {
  const subscription = await gateway.subscriptionTokens.find(verificationToken)
  if (subscription === null) throw apiError('badVerificationToken')
  return subscription
}

/**
 * Stores the inbound message of an event, and resolves when it is on disk. Other kinds of events are ignored.
 * Errors: `badVerificationToken`.
 */
export async function receive(gateway: Gateway, subscription: Subscription, body: unknown): Promise<void> {
  const event = gateway.provider.parseInboundEvent(body)
  if (event.kind === 'ignored') return gateway.log.debug({ why: event.why }, 'event ignored')
  if (await namesOtherTenant(gateway, subscription, event)) throw apiError('badVerificationToken')
  await storeReceived(gateway, subscription, event.sms)
}

type SmsEvent = Extract<InboundEvent, { kind: 'sms' }>

/** Whether the event names a subscription or an extension of another tenant than the token's. */
async function namesOtherTenant(
  gateway: Gateway,
  subscription: Subscription,
  { subscriptionId, ownerId }: SmsEvent,
): Promise<boolean> {
  const { tenantId, extensionId, providerId } = subscription
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
