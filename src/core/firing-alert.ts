/** An alert that has begun and is not over. */
export interface FiringAlert {
  alert: string
  /** The id of the affected thing, behind its tenant's where two tenants may have the same. */
  subject: string
  /** What is wrong with which thing, without the last full stop. */
  what: string
  /** What to do about it, in whole sentences. */
  fix: string
  /** The text of the post when it is over. */
  overText: string
  /** Epoch milliseconds. */
  since: number
  /** Ids and figures for programs. */
  detail: Readonly<Record<string, string | number | null>>
}

/** What needs a person now, as of the last checks. */
export interface FiringAlerts {
  firing: readonly FiringAlert[]
  /** Monotonic time of the start. What is kept in memory alone is not known at once. */
  knownSince: number
  /** Runs the checks now, while the gateway works. */
  check(): Promise<unknown>
}
