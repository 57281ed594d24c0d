/** The extension of a connected account. */
export interface ConnectedExtension {
  extensionId: string
  rcAccountId: string
  connectedAt: string
  /** `revoked` needs a new authorization, by `connection.inviteLink()`. */
  status: ExtensionStatus
  /** The numbers that can send and receive SMS, E.164. */
  phoneNumbers: string[]
}

export type ExtensionStatus = 'active' | 'refresh_failed' | 'revoked'

/** Whether the tenant is connected. `expiresAt`: when its authorization ends if it is not renewed. */
export type ConnectionStatus = { connected: true; expiresAt: string; rcAccountId: string } | { connected: false }

/** A number of an extension. */
export interface NumberHealth {
  phoneNumber: string
  /** In the provider's words; null if unknown. */
  usageType: string | null
  /** Whether it may send pictures and other files; null if unknown. */
  canSendMedia: boolean | null
  /**
   * Where its inbound texts arrive: `here`: in this gateway, as usual; `threads`: read from RingCentral's Shared Inbox; `elsewhere`: they go to
   * Shared Inbox, which this app may not read.
   */
  inbound: 'here' | 'threads' | 'elsewhere'
  /** Null if it has no campaign, needs none, or it is unknown. */
  campaign: NumberCampaign | null
}

/** The 10DLC campaign of a local number in the US. */
export interface NumberCampaign {
  /** In the words of the provider, such as `Submitted` or `Confirmed`. */
  status: string
  /** In the words of the provider, such as `LowVolume`; null if unknown. */
  tier: string | null
  /** Texts a day over all numbers of the campaign; null if the provider gives no limit. */
  dailyLimit: number | null
}

/** What is wrong with a connected extension, and what to do about it. */
export interface ExtensionHealth {
  extensionId: string
  rcAccountId: string
  /** From the provider; null if unknown. */
  extensionNumber: string | null
  name: string | null
  status: ExtensionStatus
  /** What is wrong; null if nothing is. */
  reason: string | null
  /** When it began; null if nothing is wrong. */
  since: string | null
  /** What to do about it. */
  fix: string | null
  /** Whether a person has logged in through a link, or a JWT opens its sessions. */
  connectedBy?: 'link' | 'jwt'
  /** When its JWT ends; null if it has no end. Only with `connectedBy` `jwt`. */
  jwtExpiresAt?: string | null
  phoneNumbers: string[]
  /** The numbers that can send. */
  numbers?: NumberHealth[]
  /** Your US local numbers that the provider does not let send; `reason` has the status of their campaign. */
  cannotSend?: { phoneNumber: string; campaign: NumberCampaign | null; reason: string }[]
  /** Calls of the last 60 seconds that count for its limit. */
  windowUsed: number
  windowLimit: number
  /** The provider requested a pause: nothing is sent before this time. */
  pausedUntil: string | null
  subscription: { status: 'active' | 'pending' | 'expired' | 'none'; expiresAt: string | null }
  accessExpiresAt: string
  refreshExpiresAt: string
  /** When the provider ends its session, even if its tokens are refreshed; null if it sets no such end. */
  sessionExpiresAt?: string | null
  /** When the newest message to one of its numbers was stored. */
  lastInboundAt: string | null
}
