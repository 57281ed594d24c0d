import { Destinations } from './destinations.ts'
import type { CreatedTrigger, Trigger } from './resource-types.ts'

/** Addresses besides the apps that get the tenant's inbound messages. */
export class Triggers extends Destinations {
  protected readonly path = '/triggers'

  /** The tenant's triggers, oldest first. */
  list(): Promise<Trigger[]> {
    return this.member('triggers', this.path)
  }

  /** Adds an address. The secret that signs its webhooks is shown only this once. */
  create(trigger: { callbackUrl: string }): Promise<CreatedTrigger> {
    return this.call('POST', this.path, trigger)
  }

  /** Removes a trigger. */
  async delete(triggerId: string): Promise<void> {
    await this.call('DELETE', this.pathOf(triggerId))
  }
}
