import type { Clock } from '../../core/clock.ts'
import { Limiter, type LimiterBounds, type Slot } from '../../core/limiter.ts'
import { RESERVED_WEBHOOKS_PER_TENANT, WEBHOOK_TIMEOUT_MS } from '../../core/limits.ts'
import { type WebhookFailure, failureOf } from './failure.ts'
import type { Resolver } from './system-resolver.ts'

export type LookupResult = { ok: true; addresses: readonly string[] } | ({ ok: false } & WebhookFailure)

/** How long one lookup may take. */
const LOOKUP_LIMIT_MS = 2000
/** How long a name whose lookup timed out gets the same failure without another lookup. */
const HUNG_NAME_TTL_MS = 5000
const BOUNDS: LimiterBounds = { total: 256, perTenant: 64, reservedPerTenant: RESERVED_WEBHOOKS_PER_TENANT }

/**
 * Looks up names within limits of time and number, so that names whose servers hang delay only the tenant that uses them.
 * Concurrent lookups of one name by one tenant share a query.
 */
export class NameLookup {
  readonly #running = new Map<string, Promise<LookupResult>>()
  readonly #limiter = new Limiter(BOUNDS)

  constructor(
    readonly resolver: Resolver,
    readonly clock: Clock,
  ) {}

  /** Never rejects; an abort of `signal` results in `TimeoutError`. */
  async find(hostname: string, tenantId: string, signal: AbortSignal): Promise<LookupResult> {
    // RFC 6761 6.4: such names never exist, so no server is asked.
    if (hostname === 'invalid' || hostname.endsWith('.invalid')) return failed('ENOTFOUND')
    const key = `${tenantId} ${hostname}`
    return Promise.race([this.#running.get(key) ?? this.#start(key, hostname, tenantId), aborted(signal)])
  }

  #start(key: string, hostname: string, tenantId: string): Promise<LookupResult> {
    const forget = (): void => void this.#running.delete(key)
    const lookup = this.#run(hostname, tenantId)
    void lookup.then(({ isHung }) => (isHung ? this.clock.after(HUNG_NAME_TTL_MS, forget) : forget()))
    const result = lookup.then((ended) => ended.result)
    this.#running.set(key, result)
    return result
  }

  async #run(hostname: string, tenantId: string): Promise<{ result: LookupResult; isHung: boolean }> {
    const slot = this.#limiter.acquire(tenantId) ?? (await this.#nextSlot(tenantId))
    if (slot === null) return { result: failed('ETIMEOUT'), isHung: false }
    const limit = new AbortController()
    const cancel = this.clock.after(LOOKUP_LIMIT_MS, () => limit.abort())
    const result = await this.#ask(hostname, limit.signal)
    cancel()
    slot.release()
    return { result, isHung: limit.signal.aborted && !result.ok }
  }

  /** Waits for a slot; returns null if none was free within the time of a delivery. */
  #nextSlot(tenantId: string): Promise<Slot | null> {
    const { promise, resolve } = Promise.withResolvers<Slot | null>()
    const leaveQueue = this.#limiter.request(tenantId, [], (slot) => {
      cancel()
      resolve(slot)
    })
    const cancel = this.clock.after(WEBHOOK_TIMEOUT_MS, () => {
      leaveQueue()
      resolve(null)
    })
    return promise
  }

  async #ask(hostname: string, signal: AbortSignal): Promise<LookupResult> {
    try {
      const found = await this.resolver(hostname, signal)
      return found.length === 0 ? failed('ENOTFOUND') : { ok: true, addresses: found.map((entry) => entry.address) }
    } catch (error) {
      return { ok: false, ...failureOf(error) }
    }
  }
}

const failed = (code: string): LookupResult => ({ ok: false, ...failureOf({ code }) })

function aborted(signal: AbortSignal): Promise<LookupResult> {
  const { promise, resolve } = Promise.withResolvers<LookupResult>()
  if (signal.aborted) resolve(failed('TimeoutError'))
  else signal.addEventListener('abort', () => resolve(failed('TimeoutError')), { once: true })
  return promise
}
