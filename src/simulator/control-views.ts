import type { Extension } from './directory.ts'

// Arguments and results of the control API. All ids are strings. All times are epoch milliseconds of the simulator's clock.

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
  transport: 'WebHook' | 'WebSocket'
  /** Empty for a WebSocket. */
  address: string
  /** The Verification-Token that the platform sends with each event; null without one. */
  verificationToken: string | null
  expiresAt: number
}

/** An open socket. */
export interface SocketView {
  extensionId: string
  /** The login that it belongs to. */
  sessionId: string
  /** Null before it has subscribed. */
  subscriptionId: string | null
  openedAt: number
  /** Whether the fault `silent` was set. */
  isSilent: boolean
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
