import type { Clock } from '../core/clock.ts'

/** The webhook subscriptions. Expired ones are removed, as on the platform. */
export interface SubscriptionBook {
  add(draft: SubscriptionDraft): Subscription
  get(id: string): Subscription | undefined
  of(extensionId: number, clientId: string): Subscription[]
  all(): Subscription[]
  delete(id: string): boolean
  /** Restarts the subscription's lifetime. */
  renew(subscription: Subscription): void
}

export interface SubscriptionDraft {
  extensionId: number
  clientId: string
  eventFilters: string[]
  disabledFilters: string[]
  address: string
  verificationToken: string | null
  ttlSeconds: number
}

export interface Subscription extends SubscriptionDraft {
  id: string
  createdAt: number
  expiresAt: number
  blacklisted: { reason: string; at: number } | null
  /** The time of the first failed delivery since the last successful one. */
  failingSince: number | null
}

export function createSubscriptionBook(clock: Clock): SubscriptionBook {
  const subscriptions = new Map<string, Subscription>()

  function add(draft: SubscriptionDraft): Subscription {
    const id = crypto.randomUUID()
    const createdAt = clock.now()
    const expiresAt = createdAt + draft.ttlSeconds * 1000
    const subscription: Subscription = { ...draft, id, createdAt, expiresAt, blacklisted: null, failingSince: null }
    subscriptions.set(id, subscription)
    return subscription
  }

  function all(): Subscription[] {
    for (const one of subscriptions.values()) if (clock.now() >= one.expiresAt) subscriptions.delete(one.id)
    return [...subscriptions.values()]
  }

  function get(id: string): Subscription | undefined {
    return all().find((one) => one.id === id)
  }

  return {
    add,
    get,
    of: (extensionId, clientId) => all().filter((one) => one.extensionId === extensionId && one.clientId === clientId),
    all,
    delete: (id) => subscriptions.delete(id),
    renew(subscription) {
      subscription.expiresAt = clock.now() + subscription.ttlSeconds * 1000
    },
  }
}
