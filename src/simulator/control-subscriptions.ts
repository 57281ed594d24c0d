import { BlacklistShape, checked, PerhapsOwnerShape, SubscriptionShape } from './arguments.ts'
import type { Subscription } from './subscription-book.ts'
import type { World } from './world.ts'

/** The control knobs for subscriptions. */
export interface SubscriptionKnobs {
  subscriptions(filter?: { extensionId?: string }): SubscriptionView[]
  blacklistSubscription(target: { subscriptionId: string; reason?: string }): void
  expireSubscription(target: { subscriptionId: string }): void
  deleteSubscription(target: { subscriptionId: string }): void
}

export interface SubscriptionView {
  subscriptionId: string
  extensionId: string
  status: 'Active' | 'Blacklisted'
  eventFilters: string[]
  transport: 'WebHook' | 'WebSocket'
  /** Empty for a WebSocket. */
  address: string
  /** The Verification-Token that the platform sends with each event; null without one. */
  verificationToken: string | null
  expiresAt: number
}

export function subscriptionKnobs({ subscriptions, clock }: World): SubscriptionKnobs {
  function findSubscription(target: { subscriptionId: string }): Subscription {
    const { subscriptionId } = checked(SubscriptionShape, target)
    const subscription = subscriptions.get(subscriptionId)
    if (subscription === undefined) throw new Error(`Unknown subscription ${subscriptionId}`)
    return subscription
  }

  return {
    subscriptions(filter = {}) {
      const { extensionId } = checked(PerhapsOwnerShape, filter)
      return subscriptions
        .all()
        .filter((one) => extensionId === undefined || String(one.extensionId) === extensionId)
        .map(subscriptionView)
    },
    blacklistSubscription(target) {
      const { subscriptionId, reason = 'I/O operation is failed. Details: [Read timed out]' } = checked(
        BlacklistShape,
        target,
      )
      findSubscription({ subscriptionId }).blacklisted = { reason, at: clock.now() }
    },
    expireSubscription(target) {
      const subscription = findSubscription(target)
      // One of a socket would renew itself.
      if (subscription.socket === null) subscription.expiresAt = clock.now()
      else subscriptions.delete(subscription.id)
    },
    deleteSubscription: (target) => void subscriptions.delete(findSubscription(target).id),
  }
}

const subscriptionView = (subscription: Subscription): SubscriptionView => ({
  subscriptionId: subscription.id,
  extensionId: String(subscription.extensionId),
  status: subscription.blacklisted === null ? 'Active' : 'Blacklisted',
  eventFilters: subscription.eventFilters,
  transport: subscription.socket === null ? 'WebHook' : 'WebSocket',
  address: subscription.address,
  verificationToken: subscription.verificationToken,
  expiresAt: subscription.expiresAt,
})
