import type { Life } from './life.ts'

interface Claim {
  /** True time. */
  at: number
  from: string
  extensionId: string
  offset: number
}

const WINDOW_MS = 60_000

/** Counts the sends of every number and extension in the sixty seconds before each, by the time at which they were claimed. */
export class Windows {
  readonly #claims: Claim[] = []

  constructor(readonly limits: { fromPerMinute: number; extensionPerMinute: number }) {}

  /** Notes a send; answers what is wrong with it, or null. */
  note(life: Life, from: string, extensionId: string, startedAt: number): string | null {
    const at = startedAt - life.offset
    // Set forward between two runs, the clock makes older sends look older still: nobody can know of those.
    const known = this.#claims.filter((claim) => claim.at > at - WINDOW_MS && life.offset <= claim.offset)
    this.#claims.push({ at, from, extensionId, offset: life.offset })
    const ofNumber = known.filter((claim) => claim.from === from).length + 1
    const ofExtension = known.filter((claim) => claim.extensionId === extensionId).length + 1
    if (ofNumber > this.limits.fromPerMinute)
      return `${ofNumber} sends of ${from} within 60 s, ${this.limits.fromPerMinute} are allowed`
    if (ofExtension > this.limits.extensionPerMinute)
      return `${ofExtension} sends of ${extensionId} within 60 s, ${this.limits.extensionPerMinute} are allowed`
    return null
  }
}
