import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import { MAX_CACHED_KEYS } from '../core/limits.ts'
import { type Secrets, sameSecret, sha256Hex } from '../core/secrets.ts'
import type { Gate } from '../db/gate.ts'

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

  constructor(readonly context: { gate: Gate; secrets: Secrets }) {}

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
    const { gate, secrets } = this.context
    const hashes = secrets.hashes(token)
    const { rows } = await gate.execute({
      sql: 'SELECT tenant_id, extension_id, provider_id, token_hash FROM subscriptions WHERE token_hash IN (SELECT value FROM json_each(?1))',
      args: [JSON.stringify(hashes)],
    })
    const row = rows.find((candidate) => hashes.some((hash) => sameSecret(hash, String(candidate['token_hash']))))
    if (row === undefined) return null
    const { tenant_id: tenantId, extension_id: extensionId, provider_id: providerId } = row
    return {
      tenantId: String(tenantId),
      extensionId: String(extensionId),
      providerId: typeof providerId === 'string' ? providerId : null,
    }
  }
}
