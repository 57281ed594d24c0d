import { inArray } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import { MAX_CACHED_KEYS } from '../core/limits.ts'
import { type Secrets, sameSecret, sha256Hex } from '../core/secrets.ts'
import type { Orm } from '../db/orm.ts'
import { subscriptions } from '../db/schema/connections.ts'

/** The subscription that a Verification-Token belongs to. */
export interface Subscription {
  tenantId: string
  extensionId: string
  /** The provider's id of this subscription; null until the provider has answered the call that creates it. */
  providerId: string | null
}

/**
 * Verification-Tokens of the provider's events. The database stores only their HMACs. Lookups use a bounded cache, keyed
 * by a plain hash of the token. Every change of a subscription empties the cache.
 */
export class SubscriptionTokens {
  readonly #known = new LRUCache<string, Subscription>(bounded(MAX_CACHED_KEYS))
  #generation = 0

  constructor(readonly context: { orm: Orm; secrets: Secrets }) {}

  /** The cached subscription of this token; undefined if the database must be asked. */
  known(token: string): Subscription | undefined {
    return this.#known.get(sha256Hex(token))
  }

  /** The subscription that this token belongs to, or null. */
  async find(token: string): Promise<Subscription | null> {
    const known = this.known(token)
    if (known !== undefined) return known
    const generation = this.#generation
    const subscription = await this.#read(token)
    // If a subscription changed during the read, the result may be out of date: it is used once, but not cached.
    if (subscription !== null && generation === this.#generation) this.#known.set(sha256Hex(token), subscription)
    return subscription
  }

  /** Empties the cache. Call it after each commit that changes or deletes a subscription. */
  forget(): void {
    this.#generation++
    this.#known.clear()
  }

  async #read(token: string): Promise<Subscription | null> {
    const { orm, secrets } = this.context
    const hashes = secrets.hashes(token)
    const { tenantId, extensionId, providerId, tokenHash } = subscriptions
    const rows = await orm
      .select({ tenantId, extensionId, providerId, tokenHash })
      .from(subscriptions)
      .where(inArray(tokenHash, hashes))
    const row = rows.find((candidate) => hashes.some((hash) => sameSecret(hash, candidate.tokenHash)))
    return row === undefined
      ? null
      : { tenantId: row.tenantId, extensionId: row.extensionId, providerId: row.providerId }
  }
}
