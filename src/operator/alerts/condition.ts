/** The names of alerts: conditions that need a person. In the order of posts: those about the gateway itself come before those of one tenant. */
export const ALERT_NAMES = [
  'storage_failing',
  'encryption_key_missing',
  'provider_credentials',
  'jwt_refused',
  'provider_unreachable',
  'clock_wrong',
  'backup_behind',
  'standby_missing',
  'standby_cannot_take_over',
  'queue_old',
  'extension_revoked',
  'extension_not_receiving',
  'extension_failing',
  'webhook_failing',
  'webhooks_interrupted',
] as const
export type AlertName = (typeof ALERT_NAMES)[number]

/** Something that is wrong now. */
export interface AlertCondition {
  alert: AlertName
  /** The id of the affected thing. It distinguishes conditions of the same name. */
  subject: string
  /** Understandable on its own: what is wrong with which thing, and what to do. */
  text: string
  /** The text for the end of the condition. */
  overText: string
  /** Ids and figures for programs. */
  detail: Readonly<Record<string, string | number | null>>
  /** How long it must last to become an alert, because it often ends by itself. Default 0. */
  holdMs?: number
  /** When it began, epoch milliseconds; absent if only the time of the first check is known. */
  since?: number
}

/** What a check may need to know of the earlier ones. */
export interface CheckHistory {
  /** The alerts that are not over yet, also those of an earlier process. */
  firing: readonly Omit<AlertCondition, 'holdMs'>[]
  /** How long this process has run. What it keeps in memory alone is not known at once. */
  ageMs: number
}

/** Finds the conditions of some names. A check that rejects changes nothing about them. */
export interface AlertCheck {
  names: readonly AlertName[]
  find(history: CheckHistory): Promise<readonly AlertCondition[]>
}
