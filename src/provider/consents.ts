// The provider's records of who has opted out of an account's numbers, or in again.

export interface Consent {
  contact: string
  /** The account's number that it covers; null for all numbers of the account. */
  number: string | null
  isOut: boolean
  /** Epoch milliseconds by the provider's clock. */
  modifiedAt: number
}

export interface ConsentQuery {
  isOut: boolean
  /** The end of the previous page; null for the first. */
  pageToken: string | null
}

/** A page of the consents of an account, in no certain order. */
export interface ConsentPage {
  consents: Consent[]
  /** How many name none of the account's numbers: they are for a type of campaign, or cannot be read. */
  leftOut: number
  /** Null on the last page. */
  nextPageToken: string | null
}
