import type { Extension } from './directory.ts'

// Arguments and results of the control API. All ids are strings. All times are epoch milliseconds of the simulator's clock.

export interface NewJwt {
  extensionId: string
  /** The one app that may present it. */
  clientId?: string
  expiresInSeconds?: number
}

export interface ExtensionView {
  extensionId: string
  accountId: string
  extensionNumber: string
  name: string
  type: Extension['type']
  status: Extension['status']
  numbers: { phoneNumber: string; features: string[] }[]
}

export interface SessionView {
  extensionId: string
  sessionId: string
  accessToken: string
  refreshToken: string
  accessExpiresAt: number
  refreshExpiresAt: number
  /** Whether the current access token has been used. */
  used: boolean
}

export interface SubscriptionView {
  subscriptionId: string
  extensionId: string
  status: 'Active' | 'Blacklisted'
  eventFilters: string[]
  address: string
  /** The Verification-Token that the platform sends with each event; null without one. */
  verificationToken: string | null
  expiresAt: number
}

export interface MessageView {
  messageId: string
  /** The extension whose store has it: a user, or a call queue. */
  extensionId: string
  direction: 'Inbound' | 'Outbound'
  /** Null for a sender without a number. */
  from: string | null
  to: string[]
  text: string | null
  messageStatus: string
  /** Epoch milliseconds. */
  createdAt: number
}
