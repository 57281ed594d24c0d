import { pagesOf, type Pages } from './pages.ts'
import { Resource } from './resource.ts'
import type { OptOut, OptOutFilter, OptOutPolicy } from './resource-types.ts'

/** Contacts that do not want messages from a number. */
export class OptOuts extends Resource {
  /** Contacts that have opted out of the tenant's numbers, latest first. */
  list(filter: OptOutFilter = {}): Pages<'optOuts', OptOut, { policy?: OptOutPolicy }> {
    return pagesOf(this.requester, '/opt-outs', 'optOuts', filter, { keyOf: pairOf })
  }

  /** Opts a contact out of a number, or in again. */
  async set(optOut: { number: string; contact: string; optedOut: boolean }): Promise<void> {
    await this.call('PUT', '/opt-outs', optOut)
  }

  /** What happens to messages to contacts that have opted out. */
  policy(): Promise<OptOutPolicy> {
    return this.member('policy', '/opt-outs/policy')
  }

  /** Sets what happens to messages to contacts that have opted out. */
  async setPolicy(policy: OptOutPolicy): Promise<void> {
    await this.call('PUT', '/opt-outs/policy', { policy })
  }
}

/** Identifies a pair of numbers. */
export const pairOf = (pair: { number: string; contact: string }): string => `${pair.number} ${pair.contact}`
