import type { ProviderConfig } from '../core/provider-config.ts'

/** What has become of RC_JWT since the start. */
export interface ConfiguredJwt {
  state: JwtState
}

/** `untried`: it was not presented yet. `connected`: an extension holds it, or it is not set. */
export type JwtState = { kind: 'untried' | 'connected' } | JwtProblem

export const JWT_PROBLEMS = ['refused', 'client', 'waits', 'spent'] as const

/** Why RC_JWT has connected no extension. */
export interface JwtProblem {
  /**
   * `refused`: a person must act. `client`: the same, and the refused client is a trouble of its own. `waits`: it is presented again.
   * `spent`: it was connected before, so no start presents it again.
   */
  kind: (typeof JWT_PROBLEMS)[number]
  /** The variable that gives it. */
  variable: ProviderConfig['jwtVariable']
  /** The tenant that it is for; null if it is presented for none. */
  tenantId: string | null
  /** Of the provider's answer; empty if there was none. */
  codes: string
  /** What to do, a sentence or more. */
  fix: string
  /** When it is presented again, epoch milliseconds; null if it is not. */
  nextAt: number | null
}

/** The state before it is presented. */
export const untriedJwt = ({ jwt }: Pick<ProviderConfig, 'jwt'>): ConfiguredJwt => ({
  state: { kind: jwt === null ? 'connected' : 'untried' },
})
