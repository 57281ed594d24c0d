import type { Boot } from './boot.ts'

interface Claim {
  /** True time. */
  at: number
  from: string
  extensionId: string
  offset: number
}

const WINDOW_MS = 60_000

/** Checks the rate rateWindows: counts the sends of each number and extension in the sixty seconds before each claim. */
export class RateWindowChecker {
  readonly #claims: Claim[] = []

  constructor(readonly limits: { fromPerMinute: number; extensionPerMinute: number }) {}

  /** Records a send. Returns the violation, or null. */
  note(boot: Boot, from: string, extensionId: string, startedAt: number): string | null {
    const at = startedAt - boot.offset
    // If the clock was set forward between two boots, older sends look too old, so the gateway cannot count them.
    const known = this.#claims.filter((claim) => claim.at > at - WINDOW_MS && boot.offset <= claim.offset)
    this.#claims.push({ at, from, extensionId, offset: boot.offset })
    const ofNumber = known.filter((claim) => claim.from === from).length + 1
    const ofExtension = known.filter((claim) => claim.extensionId === extensionId).length + 1
    if (ofNumber > this.limits.fromPerMinute)
      return `${ofNumber} sends of ${from} within 60 s, ${this.limits.fromPerMinute} are allowed`
    if (ofExtension > this.limits.extensionPerMinute)
      return `${ofExtension} sends of ${extensionId} within 60 s, ${this.limits.extensionPerMinute} are allowed`
    return null
  }
}
