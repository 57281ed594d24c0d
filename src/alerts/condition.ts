/** What needs a person. In the order of posts: what is wrong for everybody comes before what may be wrong a thousand times for one tenant. */
export const ALERT_NAMES = [
  'storage_failing',
  'backup_behind',
  'queue_old',
  'extension_revoked',
  'extension_not_receiving',
  'webhook_failing',
] as const
export type AlertName = (typeof ALERT_NAMES)[number]

/** Something that is wrong now. */
export interface Condition {
  alert: AlertName
  /** Tells the conditions of one name apart: the id of the thing. */
  subject: string
  /** Reads alone: what is wrong with which thing, and what to do. */
  text: string
  /** The same for when it is over. */
  overText: string
  /** Ids and figures for programs. */
  detail: Readonly<Record<string, string | number | null>>
  /** How long it must last before it is an alert, because it often ends by itself. */
  holdMs: number
  /** Epoch milliseconds, where that is known better than by the first look. */
  since: number | null
}

/** Looks for the conditions of some names. A look that rejects says nothing about them. */
export interface Look {
  names: readonly AlertName[]
  find(): Promise<Condition[]>
}
