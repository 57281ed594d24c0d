/** A firing alert. */
export interface FiringAlert {
  alert: string
  /** The id of the affected thing, after its tenant's if two tenants may have the same id. */
  subject: string
  /** What is wrong with which thing, without the last period. */
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

/** An alert that an operator has muted for a time. */
export interface Mute {
  alert: string
  /** The public id of the affected thing: if two tenants have the same, both are muted. */
  subject: string
  /** Epoch milliseconds; null: until the alert is over. */
  until: number | null
  by: 'session' | 'cli'
}

/** What needs attention now, as of the last checks. */
export interface FiringAlerts {
  firing: readonly FiringAlert[]
  mutes: readonly Mute[]
  /** Monotonic time of the start. Facts that are only in memory are not known immediately. */
  knownSince: number
  /** Runs the checks now, while the gateway is active. */
  check(): Promise<unknown>
  /** Changes the mutes, and stores them before it resolves. Rejects while the storage fails. */
  setMutes(change: (mutes: readonly Mute[]) => Mute[]): Promise<void>
}

/** Nothing is known before the checks run. */
export const noAlerts = (knownSince: number): FiringAlerts => ({
  firing: [],
  mutes: [],
  knownSince,
  check: () => Promise.resolve(),
  setMutes: () => Promise.resolve(),
})
