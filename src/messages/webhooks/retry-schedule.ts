import { DAY_MS, HOUR_MS } from '../../core/limits.ts'
import type { RetryPolicy } from '../../db/schema/webhooks.ts'

type RetryingPolicy = Exclude<RetryPolicy, 'none'>

const SECOND_MS = 1000
const MINUTE_MS = 60_000

/** Milliseconds from the end of an attempt to the next one. The first step follows the first attempt. */
const STEPS_MS: Readonly<Record<RetryingPolicy, readonly number[]>> = {
  short: [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS],
  standard: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    DAY_MS,
  ],
}
/** Varies each step, so that deliveries that failed together are not tried again at the same moment. */
const JITTER = 0.1

/** Milliseconds until the next attempt by each schedule; null if the schedule has ended. */
export type NextDelays = Readonly<Record<RetryingPolicy, number | null>>

export const NO_NEXT: NextDelays = { short: null, standard: null }

/**
 * The delays after attempt `attemptNumber` has failed. `random` is from 0 to 1. `retryAfterMs` is the delay that the
 * destination asked for: it makes a step longer, never shorter.
 */
export function nextDelays(attemptNumber: number, random: number, retryAfterMs: number | null): NextDelays {
  const factor = 1 - JITTER + 2 * JITTER * random
  const delayOf = (policy: RetryingPolicy): number | null => {
    const step = STEPS_MS[policy][attemptNumber - 1]
    return step === undefined ? null : Math.max(step * factor, retryAfterMs ?? 0)
  }
  return { short: delayOf('short'), standard: delayOf('standard') }
}
