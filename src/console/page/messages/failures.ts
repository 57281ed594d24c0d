/** Each way to fail by its word, as in the filter `failure`: the unique beginning of its stored error, and what a row shows. */
export const FAILURES = {
  not_connected: ['Telephony', 'no extension connected'],
  unknown_number: ['Phone number ', 'number not connected'],
  revoked: ['Extension not', 'extension revoked'],
  rejected: ['Provider rejected', 'refused'],
  expired: ['Message expired', 'expired'],
  cancelled: ['Cancelled', 'cancelled'],
  unconfirmed: ['Delivery could', 'not confirmed'],
  opted_out: ['Recipient', 'recipient opted out'],
  no_media: ['From number', 'number sends no media'],
} as const

export type FailureWord = keyof typeof FAILURES

const WORDS = Object.keys(FAILURES) as FailureWord[]

/** The word of an error; undefined for an error that the page does not know. */
export const wordOf = (error: string | null | undefined): FailureWord | undefined =>
  WORDS.find((word) => error?.startsWith(FAILURES[word][0]))

/** A refusal's own words and the provider's code. */
export const REFUSAL = /^Provider rejected[^:]+: (.*?)(?: \(([\w.-]+)\))?$/s
