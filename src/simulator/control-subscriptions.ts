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
  function findSubscription(subscriptionId: string): Subscription {
    const subscription = subscriptions.get(subscriptionId)
    if (subscription === undefined) throw new Error(`Unknown subscription ${subscriptionId}`)
    return subscription
  }

  return {
    subscriptions: ({ extensionId } = {}) =>
      subscriptions
        .all()
        .filter((one) => extensionId === undefined || String(one.extensionId) === extensionId)
        .map(subscriptionView),
    blacklistSubscription({ subscriptionId, reason = 'I/O operation is failed. Details: [Read timed out]' }) {
      findSubscription(subscriptionId).blacklisted = { reason, at: clock.now() }
    },
    expireSubscription({ subscriptionId }) {
      const subscription = findSubscription(subscriptionId)
      // One of a socket would renew itself.
      if (subscription.socket === null) subscription.expiresAt = clock.now()
      else subscriptions.delete(subscription.id)
    },
    deleteSubscription: ({ subscriptionId }) => void subscriptions.delete(findSubscription(subscriptionId).id),
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
