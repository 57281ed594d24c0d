/** An alert that has begun and is not over. */
export interface FiringAlert {
  alert: string
  /** Understandable on its own: what is wrong with which thing, and what to do. */
  text: string
  /** Epoch milliseconds. */
  since: number
  /** Ids and figures for programs. */
  detail: Readonly<Record<string, string | number | null>>
}
