import { DAY_MS } from '../../core/limits.ts'

/** The calls of a group that an answer allows in a minute. */
export interface ToldRate {
  group: string
  perMinute: number
}

interface Told {
  perMinute: number
  /** Steady time. */
  at: number
}

/**
 * The rate limits of the app, from the provider's answers (RingCentral developer guide, "Rate limit response headers"): they can be customized
 * for each app. A limit that was not seen for a day is forgotten.
 */
export class Rates {
  readonly #told = new Map<string, Told>()

  constructor(readonly steady: () => number) {}

  /** Call it only for an answer of the provider itself, because something in between may also limit calls. */
  heard(rate: ToldRate | null): void {
    if (rate === null || (!this.#told.has(rate.group) && this.#told.size >= MAX_GROUPS)) return
    this.#told.set(rate.group, { perMinute: rate.perMinute, at: this.steady() })
  }

  /** Calls of this group that an extension may make in a minute; null if unknown. */
  perMinute(group: string): number | null {
    const told = this.#told.get(group)
    return told === undefined || this.steady() - told.at > DAY_MS ? null : told.perMinute
  }
}

/** RingCentral has four. */
const MAX_GROUPS = 20
const SECONDS = 60

/** The limit in an answer's headers; null if there is none. */
export function rateOf(header: (name: string) => string | null): ToldRate | null {
  const group = header('x-rate-limit-group')?.toLowerCase()
  const limit = Number(header('x-rate-limit-limit'))
  const seconds = Number(header('x-rate-limit-window'))
  const isTold = Number.isSafeInteger(limit) && limit > 0 && Number.isSafeInteger(seconds) && seconds > 0
  if (group === undefined || !isTold) return null
  return { group, perMinute: Math.max(1, Math.floor((limit * SECONDS) / seconds)) }
}
