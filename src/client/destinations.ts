import { segment } from './requester.ts'
import { Resource } from './resource.ts'
import type { RetryPolicy } from './resource-types.ts'

/** Apps or triggers: destinations with a webhook address, and a policy for failed deliveries. */
export abstract class Destinations extends Resource {
  protected abstract readonly path: string

  /** How failed webhook deliveries to it are tried again. */
  retries(id: string): Promise<RetryPolicy> {
    return this.member('policy', this.pathOf(id, '/webhook-retries'))
  }

  /** Sets how failed webhook deliveries to it are tried again. */
  async setRetries(id: string, policy: RetryPolicy): Promise<void> {
    await this.call('PUT', this.pathOf(id, '/webhook-retries'), { policy })
  }

  protected pathOf(id: string, rest = ''): string {
    return `${this.path}/${segment(id)}${rest}`
  }
}
