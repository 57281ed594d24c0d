import type { Clock } from '../core/clock.ts'
import { randomText } from './random.ts'

/** Authorization codes: single use, 60 s (RingCentral developer guide, "Authorization code flow"). */
export interface Codes {
  issue(grant: CodeGrant): string
  /** The grant behind a code, which stays usable until `spend`. */
  find(code: string): CodeGrant | 'unknown' | 'expired'
  spend(code: string): void
}

export interface CodeGrant {
  extensionId: number
  clientId: string
  redirectUri: string
  challenge: { method: 'S256' | 'plain'; value: string } | null
}

export const CODE_SECONDS = 60
const MAX_OPEN_CODES = 10_000

export function createCodes(clock: Clock): Codes {
  const open = new Map<string, CodeGrant & { expiresAt: number }>()

  function issue(grant: CodeGrant): string {
    const code = randomText(240)
    open.set(code, { ...grant, expiresAt: clock.now() + CODE_SECONDS * 1000 })
    const oldest = open.keys().next().value
    if (open.size > MAX_OPEN_CODES && oldest !== undefined) open.delete(oldest)
    return code
  }

  function find(code: string): CodeGrant | 'unknown' | 'expired' {
    const grant = open.get(code)
    if (grant === undefined) return 'unknown'
    return clock.now() >= grant.expiresAt ? 'expired' : grant
  }

  return { issue, find, spend: (code) => void open.delete(code) }
}
