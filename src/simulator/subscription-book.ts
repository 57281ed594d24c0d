import type { Clock } from '../core/clock.ts'
import type { SocketOrigin } from './http.ts'

export interface SubscriptionDraft {
  extensionId: number
  clientId: string
  eventFilters: string[]
  disabledFilters: string[]
  /** Empty for one of a socket. */
  address: string
  /** The session of the socket that its events are sent over; null for a webhook. */
  socket: SocketOrigin | null
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

/** The subscriptions. Expired ones are removed, as on the platform. */
export class SubscriptionBook {
  readonly #subscriptions = new Map<string, Subscription>()

  constructor(private readonly clock: Clock) {}

  add(draft: SubscriptionDraft): Subscription {
    const id = crypto.randomUUID()
    const createdAt = this.clock.now()
    const expiresAt = createdAt + draft.ttlSeconds * 1000
    const subscription: Subscription = { ...draft, id, createdAt, expiresAt, blacklisted: null, failingSince: null }
    this.#subscriptions.set(id, subscription)
    return subscription
  }

  all(): Subscription[] {
    for (const one of this.#subscriptions.values()) if (this.clock.now() >= one.expiresAt) this.#expire(one)
    return [...this.#subscriptions.values()]
  }

  get(id: string): Subscription | undefined {
    return this.all().find((one) => one.id === id)
  }

  of(extensionId: number, clientId: string): Subscription[] {
    return this.all().filter((one) => one.extensionId === extensionId && one.clientId === clientId)
  }

  delete(id: string): boolean {
    return this.#subscriptions.delete(id)
  }

  /** Those of one socket session: one at most, but of a replaced one. */
  deleteOf({ token }: SocketOrigin): void {
    for (const one of this.#subscriptions.values()) if (one.socket?.token === token) this.delete(one.id)
  }

  /** Restarts the subscription's lifetime. */
  renew(subscription: Subscription): void {
    subscription.expiresAt = this.clock.now() + subscription.ttlSeconds * 1000
  }

  /** The subscription of a socket renews itself (RingCentral API reference, "Renew subscription"). */
  #expire(subscription: Subscription): void {
    if (subscription.socket === null) this.delete(subscription.id)
    else this.renew(subscription)
  }
}
