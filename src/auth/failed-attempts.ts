import { eq, gt, lte, or } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { BLOCK_MS, FAILED_ATTEMPTS, FAILED_ATTEMPTS_WINDOW_MS, MAX_WATCHED_ADDRESSES } from '../core/limits.ts'
import type { Orm } from '../db/orm.ts'
import { blockedAddresses } from '../db/schema/tenants.ts'

export interface FailedAttemptsContext {
  orm: Orm
  clock: Clock
  log: Log
  /** False while ENCRYPTION_KEYS lacks a key, because then valid credentials fail, too. */
  isCounting?(): boolean
}

/** Ten failed authentications within 5 minutes block an address for 15 minutes. Blocks survive a restart; memory is bounded. */
export class FailedAttempts {
  /** Address → times of its recent failures, monotonic. Plain arrays: a million addresses must fit into 32 MB. */
  readonly #attempts = new LRUCache<string, readonly number[]>(bounded(MAX_WATCHED_ADDRESSES))
  /** Address → end of its block, monotonic. Separate from the attempts, so that a flood of addresses evicts no block. */
  readonly #blocks = new LRUCache<string, number>(bounded(MAX_WATCHED_ADDRESSES))

  constructor(readonly context: FailedAttemptsContext) {}

  /** Reads the blocks that an earlier process stored. */
  async restore(): Promise<void> {
    const { orm, clock } = this.context
    const now = clock.now()
    const { address, until } = blockedAddresses
    await orm.delete(blockedAddresses).where(or(lte(until, now), gt(until, now + BLOCK_MS)))
    for (const row of await orm.select({ address, until }).from(blockedAddresses))
      this.#blocks.set(row.address, clock.monotonic() + row.until - now)
  }

  /** Removes expired blocks from memory and from the database. */
  async purge(): Promise<void> {
    const { orm, clock } = this.context
    for (const address of this.#blocks.keys().toArray()) this.blockedSeconds(address)
    await orm.delete(blockedAddresses).where(lte(blockedAddresses.until, clock.now()))
  }

  get anyBlocked(): boolean {
    return this.#blocks.size > 0
  }

  /** Seconds until the block of this address ends, rounded up; 0 if it is not blocked. */
  blockedSeconds(address: string): number {
    const until = this.#blocks.get(address)
    if (until === undefined) return 0
    const left = until - this.context.clock.monotonic()
    if (left > 0) return Math.ceil(left / 1000)
    this.#blocks.delete(address)
    return 0
  }

  /** Records that an address presented a wrong credential. */
  note(address: string): void {
    if (this.context.isCounting?.() === false) return
    const now = this.context.clock.monotonic()
    const recent = (this.#attempts.get(address) ?? []).filter((at) => at + FAILED_ATTEMPTS_WINDOW_MS > now)
    if (recent.length + 1 >= FAILED_ATTEMPTS) return this.#block(address, now)
    this.#attempts.set(address, [...recent, now])
  }

  /** Ends the block of an address, and forgets its failures. Returns whether it was blocked. */
  async unblock(address: string): Promise<boolean> {
    const wasBlocked = this.blockedSeconds(address) > 0
    this.#attempts.delete(address)
    this.#blocks.delete(address)
    const { orm } = this.context
    const deleted = await orm.delete(blockedAddresses).where(eq(blockedAddresses.address, address)).returning()
    return wasBlocked || deleted.length > 0
  }

  #block(address: string, now: number): void {
    this.#attempts.delete(address)
    this.#blocks.set(address, now + BLOCK_MS)
    this.context.log.warn(
      { address },
      'ten wrong keys came from this address: right keys are refused, too, for 15 minutes; sgw unblock ADDRESS ends this',
    )
    const until = this.context.clock.now() + BLOCK_MS
    this.context.orm
      .insert(blockedAddresses)
      .values({ address, until })
      .onConflictDoUpdate({ target: blockedAddresses.address, set: { until } })
      .catch(() => undefined)
  }
}
