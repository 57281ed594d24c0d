import { pagesOf, type Pages } from './pages.ts'
import { segment } from './requester.ts'
import { Resource } from './resource.ts'
import type {
  DeliveryAttempt,
  DeliveryFilter,
  Dismissed,
  Recovered,
  RecoverRange,
  Redelivered,
} from './resource-types.ts'

/** The log of webhook POSTs, and repeated attempts of failed ones. */
export class Deliveries extends Resource {
  /** The attempts of webhook deliveries, newest first, kept for 30 days. */
  list(filter: DeliveryFilter = {}): Pages<'attempts', DeliveryAttempt> {
    return pagesOf(this.requester, '/webhook-deliveries', 'attempts', filter, {
      keyOf: ({ deliveryId, attemptNumber }) => `${deliveryId} ${attemptNumber}`,
    })
  }

  /** Makes one more attempt of a delivery, even of a successful one. */
  redeliver(deliveryId: string): Promise<Redelivered> {
    return this.call('POST', `/webhook-deliveries/${segment(deliveryId)}/redeliver`)
  }

  /** Makes one more attempt of each delivery that failed in a range of time and was not dismissed, the oldest 10,000 at most. */
  recover(range: RecoverRange): Promise<Recovered> {
    return this.call('POST', '/webhook-deliveries/recover', range)
  }

  /**
   * Stops counting deliveries that never arrived: those of a range of time, or at most 1,000 by id. A delivery that is attempted again and fails
   * counts again.
   */
  dismiss(which: RecoverRange | { deliveryIds: readonly string[] }): Promise<Dismissed> {
    return this.call('POST', '/webhook-deliveries/dismiss', which)
  }
}
