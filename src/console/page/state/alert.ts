import type { Traits } from '../../../operator/conditions/traits.ts'

/** What needs attention now: of one tenant, or of the gateway itself. */
export interface Alert {
  alert: string
  subject: string
  text: string
  /** What is wrong, without a period. */
  what: string
  fix: string
  since: string
  tenantId?: string
  tenantName?: string
  detail: Record<string, string | number | null>
  /** A time, or `over`: until it ends. Absent if it is not muted. */
  mutedUntil?: string
  mutedBy?: 'session' | 'cli'
}

/** An alert with what it is to the console. */
export interface KnownAlert extends Alert {
  traits: Traits
  /** The key of the fact that tells it, if there is one. */
  factKey: string
}
