import type { Topic } from '../db/schema/connections.ts'

// The subscriptions of the port to the provider (`provider.ts`).

export interface SubscriptionRequest {
  /** Public address of `POST /v1/webhooks/provider`. */
  address: string
  verificationToken: string
  topic: Topic
}

export interface ProviderSubscription {
  subscriptionId: string
  topic: Topic
  /** `Active`; anything else counts as broken. */
  status: string
  /** Epoch milliseconds. */
  expiresAt: number
  /** The webhook's address. */
  address: string
  /** Filters that the provider refused; anything but none counts as broken. */
  disabledFilters: number
  /** The provider's id of the request that created it, for its support. */
  requestId?: string | null
}

/** The code of a failure: the subscription was made, but not for inbound messages. */
export const FILTER_REFUSED = 'SUB-412'

/** Whether the provider could not reach the address of a webhook: a restarting proxy is enough for that. */
export const isAboutAddress = ({ code }: { code: string | null }): boolean => /^SUB-52[0-5]$/.test(code ?? '')
