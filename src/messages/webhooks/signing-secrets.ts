import { LRUCache } from 'lru-cache'
import { bounded } from '../../core/bounded.ts'
import { MAX_CACHED_KEYS } from '../../core/limits.ts'
import type { Secrets } from '../../core/secrets.ts'
import { type Delivery, secretContextOf } from './delivery.ts'

/** Caches decrypted signing secrets, because decrypting one takes longer than signing. */
export class SigningSecrets {
  readonly #decrypted = new LRUCache<string, string>(bounded(MAX_CACHED_KEYS))

  constructor(readonly secrets: Secrets) {}

  /** Throws if the secret was not encrypted for this destination. */
  async decrypt(encrypted: string, tenantId: string, delivery: Pick<Delivery, 'kind' | 'targetId'>): Promise<string> {
    const name = `${tenantId}/${delivery.targetId}/${encrypted}`
    const known = this.#decrypted.get(name)
    if (known !== undefined) return known
    const secret = await this.secrets.decrypt(encrypted, secretContextOf(tenantId, delivery))
    this.#decrypted.set(name, secret)
    return secret
  }
}
