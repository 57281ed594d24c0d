import { segment } from './requester.ts'
import { Resource } from './resource.ts'
import type { CreatedTrigger, RetryPolicy, Trigger } from './resource-types.ts'

const pathOf = (triggerId: string): string => `/v1/triggers/${segment(triggerId)}`

/** Addresses beside the apps that get the tenant's inbound messages. */
export class Triggers extends Resource {
  /** The tenant's triggers, oldest first. */
  list(): Promise<Trigger[]> {
    return this.member('triggers', '/v1/triggers')
  }

  /** Adds an address. The secret that signs its webhooks is shown this once. */
  create(trigger: { callbackUrl: string }): Promise<CreatedTrigger> {
    return this.call('POST', '/v1/triggers', trigger)
  }

  /** Removes a trigger. */
  async delete(triggerId: string): Promise<void> {
    await this.call('DELETE', pathOf(triggerId))
  }

  /** How failed webhook deliveries to the trigger are tried again. */
  retries(triggerId: string): Promise<RetryPolicy> {
    return this.member('policy', `${pathOf(triggerId)}/webhook-retries`)
  }

  /** Sets how failed webhook deliveries to the trigger are tried again. */
  async setRetries(triggerId: string, policy: RetryPolicy): Promise<void> {
    await this.call('PUT', `${pathOf(triggerId)}/webhook-retries`, { policy })
  }
}
