// An extension's numbers, from the provider's list.

export interface ListedNumbers {
  /** The numbers from which it may send SMS. */
  sms: SmsNumber[]
  /** Direct local numbers in the United States, which need a campaign to send. Numbers that may send are also in the other list. */
  local: LocalNumber[]
}

/** A number that an extension may send SMS from. */
export interface SmsNumber {
  /** E.164. */
  number: string
  /** In the provider's words, such as `DirectNumber` or `MainCompanyNumber`; null if it gives none. */
  usageType: string | null
  /** Whether it may also send media. */
  sendsMedia: boolean
  /** The extension that it belongs to, which may be a call queue, and its type in the provider's words; null if the provider does not say. */
  ownerId: string | null
  ownerType: string | null
}

/** A direct local number in the United States. */
export interface LocalNumber {
  /** E.164. */
  number: string
  /** The provider's id of it, for `readCampaign`. */
  providerNumberId: string
  /** As of an `SmsNumber`. */
  ownerId: string | null
  /** Whether it may send SMS now. */
  sends: boolean
}

/** A 10DLC campaign, in the provider's words. */
export interface Campaign {
  status: string
  tier: string | null
}
