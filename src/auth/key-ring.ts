import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import { and, eq, inArray } from 'drizzle-orm'
import type { Clock } from '../core/clock.ts'
import { LAST_USED_STEP_MS, MAX_CACHED_KEYS } from '../core/limits.ts'
import { type Secrets, sha256Hex } from '../core/secrets.ts'
import type { Orm } from '../db/orm.ts'
import { apps, tenants } from '../db/schema/index.ts'

/** The app that a key belongs to. Cached until an app or a tenant changes. */
export interface KeyHolder {
  appId: string
  tenantId: string
  tenantActive: boolean
}

export interface KeyRingContext {
  orm: Orm
  secrets: Secrets
  clock: Clock
}

const READ_TRIES = 3

/**
 * API keys. The database stores only their HMACs. Lookups use a bounded cache, keyed by a plain hash of the key.
 * Every change of an app or a tenant empties the cache.
 */
export class KeyRing {
  readonly #holders = new LRUCache<string, KeyHolder>(bounded(MAX_CACHED_KEYS))
  readonly #lastUsed = new LRUCache<string, number>(bounded(MAX_CACHED_KEYS))
  #generation = 0

  constructor(readonly context: KeyRingContext) {}

  /** The cached holder of this key; undefined if the database must be asked. */
  known(key: string): KeyHolder | undefined {
    return this.#holders.get(sha256Hex(key))
  }

  /** The active app that this key belongs to, or null. */
  async find(key: string): Promise<KeyHolder | null> {
    return this.known(key) ?? this.#readCurrent(key, sha256Hex(key))
  }

  /** The app with this id, active or not; null if there is none. Not cached. */
  async findApp(appId: string): Promise<{ tenantId: string; isActive: boolean; tenantActive: boolean } | null> {
    const [row] = await this.context.orm
      .select({ tenantId: apps.tenantId, isActive: apps.isActive, tenantStatus: tenants.status })
      .from(apps)
      .innerJoin(tenants, eq(tenants.id, apps.tenantId))
      .where(eq(apps.id, appId))
    if (row === undefined) return null
    return { tenantId: row.tenantId, isActive: row.isActive, tenantActive: row.tenantStatus === 'active' }
  }

  /** Empties the cache. Call it after each commit that changes an app or a tenant. */
  forget(): void {
    this.#generation++
    this.#holders.clear()
  }

  /** Records that an app was used. Writes at most once a minute per app. */
  noteUse(appId: string): void {
    const now = this.context.clock.now()
    const last = this.#lastUsed.get(appId)
    if (last !== undefined && Math.abs(now - last) < LAST_USED_STEP_MS) return
    this.#lastUsed.set(appId, now)
    this.context.orm
      .update(apps)
      .set({ lastUsedAt: now })
      .where(eq(apps.id, appId))
      .catch(() => this.#lastUsed.delete(appId))
  }

  /** Reads again if an app or tenant changed during the read, because the result may be out of date. */
  async #readCurrent(key: string, cacheKey: string): Promise<KeyHolder | null> {
    for (let tries = 1; ; tries++) {
      const generation = this.#generation
      const holder = await this.#read(key)
      if (generation !== this.#generation && tries < READ_TRIES) continue
      if (holder !== null && generation === this.#generation) this.#holders.set(cacheKey, holder)
      return holder
    }
  }

  async #read(key: string): Promise<KeyHolder | null> {
    const { orm, secrets } = this.context
    const hashes = secrets.hashes(key)
    const [row] = await orm
      .select({ appId: apps.id, tenantId: apps.tenantId, keyHash: apps.keyHash, tenantStatus: tenants.status })
      .from(apps)
      .innerJoin(tenants, eq(tenants.id, apps.tenantId))
      .where(and(inArray(apps.keyHash, hashes), eq(apps.isActive, true)))
    if (row === undefined) return null
    await this.#rehash(row.appId, row.keyHash, hashes[0] ?? row.keyHash)
    return { appId: row.appId, tenantId: row.tenantId, tenantActive: row.tenantStatus === 'active' }
  }

  /** Replaces a hash made with an older encryption key. If the write fails, the key still works and the next use tries again. */
  async #rehash(appId: string, stored: string, newest: string): Promise<void> {
    if (stored === newest) return
    await this.context.orm
      .update(apps)
      .set({ keyHash: newest })
      .where(and(eq(apps.id, appId), eq(apps.keyHash, stored)))
      .catch(() => undefined)
  }
}
