import type { ProviderConfig } from '../core/provider-config.ts'

/** What has happened to RC_JWT since the start. */
export interface ConfiguredJwt {
  state: JwtState
}

/** `untried`: not presented yet. `connected`: an extension uses it, or it is not set. */
export type JwtState = { kind: 'untried' | 'connected' } | JwtProblem

export const JWT_PROBLEMS = ['refused', 'client', 'waits', 'spent'] as const

/** Why RC_JWT has connected no extension. */
export interface JwtProblem {
  /**
   * `refused`: a person must act. `client`: the same, and the refused client is a separate trouble. `waits`: it will be presented again.
   * `spent`: it was connected before, so no start presents it again.
   */
  kind: (typeof JWT_PROBLEMS)[number]
  /** The variable that sets it. */
  variable: ProviderConfig['jwtVariable']
  /** Its tenant; null if it is presented for none. */
  tenantId: string | null
  /** From the provider's answer; empty if there was none. */
  codes: string
  /** What to do, in one or more sentences. */
  fix: string
  /** When it will be presented again, epoch milliseconds; null if never. */
  nextAt: number | null
}

/** The state before the first presentation. */
export const untriedJwt = ({ jwt }: Pick<ProviderConfig, 'jwt'>): ConfiguredJwt => ({
  state: { kind: jwt === null ? 'connected' : 'untried' },
})
