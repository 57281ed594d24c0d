import type { Clock } from '../core/clock.ts'
import { randomText } from './random.ts'

export interface CodeGrant {
  extensionId: number
  clientId: string
  redirectUri: string
  challenge: { method: 'S256' | 'plain'; value: string } | null
}

export const CODE_SECONDS = 60
const MAX_OPEN_CODES = 10_000

/** Authorization codes: single use, 60 s (RingCentral developer guide, "Authorization code flow"). */
export class Codes {
  readonly #open = new Map<string, CodeGrant & { expiresAt: number }>()

  constructor(private readonly clock: Clock) {}

  issue(grant: CodeGrant): string {
    const code = randomText(240)
    this.#open.set(code, { ...grant, expiresAt: this.clock.now() + CODE_SECONDS * 1000 })
    const oldest = this.#open.keys().next().value
    if (this.#open.size > MAX_OPEN_CODES && oldest !== undefined) this.#open.delete(oldest)
    return code
  }

  /** The grant behind a code, which stays usable until `spend`. */
  find(code: string): CodeGrant | 'unknown' | 'expired' {
    const grant = this.#open.get(code)
    if (grant === undefined) return 'unknown'
    return this.clock.now() >= grant.expiresAt ? 'expired' : grant
  }

  spend(code: string): void {
    this.#open.delete(code)
  }
}
