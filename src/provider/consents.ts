// Who has opted out of the numbers of an account, or in again, as the provider keeps it.

export interface Consent {
  contact: string
  /** The number of ours that it is for; null for all numbers of the account. */
  number: string | null
  isOut: boolean
  /** Epoch milliseconds by the provider's clock. */
  modifiedAt: number
}

export interface ConsentQuery {
  isOut: boolean
  /** Where the page before has ended; null for the first. */
  pageToken: string | null
}

/** A page of the consents of an account, in no certain order. */
export interface ConsentPage {
  consents: Consent[]
  /** How many say nothing about numbers of ours: they are for a type of campaign, or cannot be read. */
  leftOut: number
  /** Null on the last page. */
  nextPageToken: string | null
}
