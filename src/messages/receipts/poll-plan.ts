const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How long a message is tracked after `sent`. */
export const TRACKED_MS = 24 * HOUR_MS

/** How often an extension is polled. */
export interface PollPace {
  /** The ages at which a message is polled; the last one repeats. */
  agesMs: readonly number[]
  /** An extension pauses for this long for each call of a poll. */
  msPerCall: number
  /** From `sent` to the start of tracking. */
  startAfterMs: number
}

const AGES_MS = [10_000, 30_000, ...[1, 2, 5, 10, 30, 60].map((minutes) => minutes * MINUTE_MS)]

export const PROVIDER_PACE: PollPace = {
  agesMs: AGES_MS,
  // Polls make at most 20 of the 50 light calls a minute that the provider allows. Lookups of unknown sends need the rest.
  msPerCall: 3000,
  // Long enough for the messages of a burst to share a commit, short enough that a poll finds few to start.
  startAfterMs: 1000,
}

/** For tests against the simulator, which delivers immediately. */
export const TEST_PACE: PollPace = { agesMs: [10, 30, 100, 300, 1000, ...AGES_MS], msPerCall: 10, startAfterMs: 10 }

/**
 * The minimum time between two polls for an age: the step to the next age. So a poll that waits for others is never later than the message's
 * own poll at the next age.
 */
const stepAfter = (agesMs: readonly number[], ageMs: number): number =>
  (agesMs.find((next) => next > ageMs) ?? 2 * ageMs) - ageMs

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
  readonly #steps: Progress[]
  /** For each age, when the first message was sent that has not been polled at this age yet. */
  #firstUnpolled: (number | null)[] = []

  constructor({ agesMs }: Pick<PollPace, 'agesMs'> = PROVIDER_PACE) {
    this.#steps = agesMs.map((ageMs) => ({ ageMs, everyMs: stepAfter(agesMs, ageMs), doneUntil: -1, at: -Infinity }))
  }

  /** For each age, the time up to which messages were polled. `setFirstUnpolled` needs the first open message after each. */
  get doneUntil(): number[] {
    return this.#steps.map(({ doneUntil }) => doneUntil)
  }

  /** `sentAt`: for each of `doneUntil`, when the first open message after it was sent. */
  setFirstUnpolled(sentAt: readonly (number | null)[]): void {
    this.#firstUnpolled = [...sentAt]
  }

  /** When the next poll is due; null if no message is open. */
  nextAt(): number | null {
    const times = this.#steps.map((step, index) => dueAt(step, this.#firstUnpolled[index] ?? null))
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
    const sentAt = this.#firstUnpolled.filter((first, index) => isDue(this.#steps[index], first, now))
    const times = sentAt.filter((at) => at !== null)
    return times.length === 0 ? null : { at: now, since: Math.min(...times) }
  }

  /** Call it after a poll for the messages sent from `since` up to `until`, whether or not the provider answered. */
  done({ at, since }: DuePoll, until: number): void {
    for (const [index, step] of this.#steps.entries()) {
      const first = this.#firstUnpolled[index] ?? null
      // Messages before `since` were not listed, so this age still has to poll them.
      if (first !== null && first < since) continue
      const oldEnough = at - step.ageMs
      step.doneUntil = Math.max(step.doneUntil, Math.min(oldEnough, until))
      const wasPolled = first !== null && first <= oldEnough && until >= oldEnough
      if (!wasPolled) continue
      step.at = at
      // The last age repeats, so it polls all open messages again.
      if (step === this.#steps.at(-1)) step.doneUntil = -1
    }
  }
}

const dueAt = ({ ageMs, everyMs, at }: Progress, first: number | null): number =>
  first === null ? Infinity : Math.max(first + ageMs, at + everyMs)

const isDue = (step: Progress | undefined, first: number | null, now: number): boolean =>
  step !== undefined && dueAt(step, first) <= now
