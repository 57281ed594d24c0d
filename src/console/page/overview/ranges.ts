/** A period that ends now: in the address, for the API, in words, and as the filter of Messages. */
export interface Range {
  name: string
  label: string
  hours: number
  inWords: string
  /** The period before it, for comparison. */
  before: string
}

export const DAY: Range = { name: '24h', label: '24 h', hours: 24, inWords: '24 hours', before: 'the day before' }
/** The range that shows the usage by day. */
export const MONTH: Range = { name: '30d', label: '30 d', hours: 720, inWords: '30 days', before: 'the 30 days before' }
export const RANGES: readonly Range[] = [
  DAY,
  { name: '7d', label: '7 d', hours: 168, inWords: '7 days', before: 'the week before' },
  MONTH,
]
