import { lookup } from 'node:dns/promises'
import type { Clock } from '../core/clock.ts'
import { type Failure, failureOf } from './failure.ts'

/** Answers all addresses of a name; rejects with an error whose `code` says why not. */
export type Resolver = (hostname: string) => Promise<readonly { address: string; family: number }[]>

export type LookupResult = { ok: true; addresses: readonly string[] } | ({ ok: false } & Failure)

export const systemResolver: Resolver = (hostname) => lookup(hostname, { all: true })

/** A look-up may take this much of a delivery's time. */
const LOOKUP_LIMIT_MS = 2000
/** How long a name that met the limit is answered with the same failure. */
const HUNG_NAME_TTL_MS = 5000

/**
 * Looks names up with a limit, each name once at a time: the system's look-up cannot be cancelled, so a name that
 * hangs must not start another one with every delivery.
 */
export class NameLookup {
  readonly #flights = new Map<string, Promise<LookupResult>>()

  constructor(
    readonly resolver: Resolver,
    readonly clock: Clock,
  ) {}

  /** Never rejects; an abort of `signal` answers `TimeoutError`. */
  async find(hostname: string, signal: AbortSignal): Promise<LookupResult> {
    // RFC 6761 6.4: such a name exists nowhere, so no server needs to hear of it.
    if (hostname === 'invalid' || hostname.endsWith('.invalid')) return failed('ENOTFOUND')
    const flight = this.#flights.get(hostname) ?? this.#start(hostname)
    return Promise.race([flight, aborted(signal)])
  }

  #start(hostname: string): Promise<LookupResult> {
    const { promise, resolve } = Promise.withResolvers<LookupResult>()
    const forget = (): void => {
      if (this.#flights.get(hostname) === promise) this.#flights.delete(hostname)
    }
    const cancel = this.clock.after(LOOKUP_LIMIT_MS, () => {
      resolve(failed('ETIMEOUT'))
      this.clock.after(HUNG_NAME_TTL_MS, forget)
    })
    this.#flights.set(hostname, promise)
    void this.#ask(hostname).then((result) => {
      cancel()
      forget()
      resolve(result)
    })
    return promise
  }

  async #ask(hostname: string): Promise<LookupResult> {
    try {
      const found = await this.resolver(hostname)
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
