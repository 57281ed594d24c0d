import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import { MAX_CACHED_KEYS } from '../core/limits.ts'
import type { Secrets } from '../core/secrets.ts'
import { type Delivery, sealContextOf } from './delivery.ts'

/** Caches opened signing secrets: opening one takes longer than signing. */
export class SigningSecrets {
  readonly #opened = new LRUCache<string, string>(bounded(MAX_CACHED_KEYS))

  constructor(readonly secrets: Secrets) {}

  /** Throws when it was not sealed for this destination. */
  async open(sealed: string, tenantId: string, delivery: Pick<Delivery, 'kind' | 'targetId'>): Promise<string> {
    const name = `${tenantId}/${delivery.targetId}/${sealed}`
    const known = this.#opened.get(name)
    if (known !== undefined) return known
    const secret = await this.secrets.decrypt(sealed, sealContextOf(tenantId, delivery))
    this.#opened.set(name, secret)
    return secret
  }
}
