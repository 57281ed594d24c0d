import type { Subscription } from '../../auth/subscription-tokens.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { takeEvent } from '../../messages/inbound/take-event.ts'

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
 * Stores the inbound message of an event, and resolves when it is on disk. An event about threads or consents causes them to be read. Other
 * kinds of events are ignored. Errors: `badVerificationToken`.
 */
export async function receive(gateway: Gateway, subscription: Subscription, body: unknown): Promise<void> {
  const event = gateway.provider.parseInboundEvent(body)
  if (event.kind === 'ignored') return gateway.log.debug({ why: event.why }, 'event ignored')
  if (!(await takeEvent(gateway, subscription, event))) throw apiError('badVerificationToken')
}
