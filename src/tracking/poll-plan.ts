const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How long a message is tracked after `sent`. */
export const TRACKED_MS = 24 * HOUR_MS

/**
 * The ages at which a message is polled; the last one repeats. Polls for one age are at least `everyMs` apart, which is the
 * step to the next age. So a poll that waits for others is never later than the message's own poll at the next age.
 */
const STEPS = [
  { ageMs: 10_000, everyMs: 20_000 },
  { ageMs: 30_000, everyMs: 30_000 },
  { ageMs: MINUTE_MS, everyMs: MINUTE_MS },
  { ageMs: 2 * MINUTE_MS, everyMs: 3 * MINUTE_MS },
  { ageMs: 5 * MINUTE_MS, everyMs: 5 * MINUTE_MS },
  { ageMs: 10 * MINUTE_MS, everyMs: 20 * MINUTE_MS },
  { ageMs: 30 * MINUTE_MS, everyMs: 30 * MINUTE_MS },
  { ageMs: HOUR_MS, everyMs: HOUR_MS },
] as const

interface Progress {
  ageMs: number
  everyMs: number
  /** Messages sent up to this time have been polled at this age. */
  doneUntil: number
  /** The time of the latest poll for this age. */
  at: number
}

/** A poll that is due: it must list the messages sent since `since`. */
export interface DuePoll {
  at: number
  since: number
}

/**
 * Decides when an extension's messages are polled. One poll serves all of them, so messages of a burst share it. All times
 * are steady.
 */
export class PollPlan {
  readonly #steps: Progress[] = STEPS.map((step) => ({ ...step, doneUntil: -1, at: -Infinity }))
  /** For each age, when the first message was sent that has not been polled at this age yet. */
  #firsts: (number | null)[] = []

  /** For each age, the end of what is polled. `learn` needs the first open message after each. */
  get doneUntil(): number[] {
    return this.#steps.map(({ doneUntil }) => doneUntil)
  }

  /** `firsts`: for each of `doneUntil`, when the first open message after it was sent. */
  learn(firsts: readonly (number | null)[]): void {
    this.#firsts = [...firsts]
  }

  /** When the next poll is due; null if no message is open. */
  nextAt(): number | null {
    const times = this.#steps.map((step, index) => dueAt(step, this.#firsts[index] ?? null))
    const at = Math.min(...times)
    return at === Infinity ? null : at
  }

  /** The earliest poll of a message sent at `sentAt`. */
  firstPollAt(sentAt: number): number {
    const [first] = this.#steps
    return first === undefined ? Infinity : dueAt(first, sentAt)
  }

  /** The poll that is due now; null if there is none. */
  due(now: number): DuePoll | null {
    const firsts = this.#firsts.filter((first, index) => isDue(this.#steps[index], first ?? null, now))
    const times = firsts.filter((first) => first !== null)
    return times.length === 0 ? null : { at: now, since: Math.min(...times) }
  }

  /** Call it after a poll for the messages sent from `since` up to `until`, whether or not the provider answered. */
  done({ at, since }: DuePoll, until: number): void {
    for (const [index, step] of this.#steps.entries()) {
      const first = this.#firsts[index] ?? null
      if (first !== null && first < since) continue
      const isComplete = until >= at - step.ageMs
      step.doneUntil = Math.max(step.doneUntil, Math.min(at - step.ageMs, until))
      if (!isComplete || first === null || first + step.ageMs > at) continue
      step.at = at
      if (index === this.#steps.length - 1) step.doneUntil = -1
    }
  }
}

const dueAt = ({ ageMs, everyMs, at }: Progress, first: number | null): number =>
  first === null ? Infinity : Math.max(first + ageMs, at + everyMs)

const isDue = (step: Progress | undefined, first: number | null, now: number): boolean =>
  step !== undefined && dueAt(step, first) <= now
