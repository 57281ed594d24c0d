import type { ProviderSettings } from './provider-settings.ts'

/**
 * The calls of the simulator's control interface that operators and tests can also use: their arguments and answers. Each checks its argument,
 * and throws before it changes anything. All ids are strings.
 */
export interface ProviderChanges {
  configure(settings: Partial<ProviderSettings>): ProviderSettings
  /** A call queue. Its recipients list its numbers and may text from them; its messages are in its own store (`owner=Any`). */
  addQueue(queue: NewQueue): ExtensionView
  /** Several extensions may list the same number; at most one should have `SmsSender` on it, unless it is a queue's. */
  addNumber(number: NewNumber): ExtensionView
  removeNumber(number: ListedNumber): ExtensionView
  /** With any status other than `Enabled`, sessions and subscriptions continue, but every call and refresh fails. */
  setExtensionStatus(change: StatusChange): ExtensionView
  /** Creates a JWT of the extension's user, as the developer console does. */
  addJwt(credential: NewJwt): { jwt: string }
  /** Deletes a JWT. The sessions that it opened continue. */
  removeJwt(credential: { jwt: string }): { removed: number }
  /** A contact opts out, or in again, in the platform's app, at its carrier or for the whole account. An earlier record of the same coverage is replaced. */
  addConsent(consent: NewConsent): ConsentSpec & { modifiedAt: number }
  /** Causes a fault on the open sockets and returns their number, or sets one for later connections and events. */
  faultSockets(fault: SocketFault): { sockets: number }
}

export const PROVIDER_CHANGES = [
  'configure',
  'addQueue',
  'addNumber',
  'removeNumber',
  'setExtensionStatus',
  'addJwt',
  'removeJwt',
  'addConsent',
  'faultSockets',
] as const satisfies (keyof ProviderChanges)[]
export type ProviderChangeName = (typeof PROVIDER_CHANGES)[number]

export interface NumberSpec {
  /** E.164. */
  phoneNumber: string
  /** Default: a number for SMS, unless its campaign is not confirmed. Pass `[]` for none. */
  features?: string[]
  usageType?: string
  type?: string
  paymentType?: string
  status?: string
  label?: string
  primary?: boolean
  /** The 10DLC campaign; null for none. Default: a confirmed one for a local number. */
  campaign?: { status: string; tier: string } | null
}

export interface NewExtension {
  /** Default: the next free id. */
  extensionId?: string
  /** Default: the first one. */
  accountId?: string
  name?: string
  extensionNumber?: string
  /** A bare number is one with the defaults. */
  numbers?: (string | NumberSpec)[]
}

export interface NewQueue extends NewExtension {
  /** The users who may text from its numbers. */
  recipients: string[]
}

export interface ListedNumber {
  extensionId: string
  phoneNumber: string
}

export interface NewNumber extends NumberSpec, ListedNumber {
  /** The call queue that it belongs to. Default: the extension itself. */
  ownerId?: string
}

/** The documented statuses of an extension, and `Deleted`, which no answer names. */
export const PROVIDER_STATUSES = ['Enabled', 'Disabled', 'Frozen', 'NotActivated', 'Unassigned', 'Deleted'] as const
export type ProviderStatus = (typeof PROVIDER_STATUSES)[number]

export interface StatusChange {
  extensionId: string
  status: ProviderStatus
}

/** An extension in the changes' answers. */
export interface ExtensionView {
  extensionId: string
  accountId: string
  extensionNumber: string
  name: string
  /** A `Department` is a call queue. */
  type: 'User' | 'Department'
  status: ProviderStatus
  numbers: { phoneNumber: string; features: string[] }[]
}

export interface NewJwt {
  extensionId: string
  /** The one app that may present it. Default: all. */
  clientId?: string
  /** Default: no end. */
  expiresInSeconds?: number
}

export const OPT_STATUSES = ['OptOut', 'OptIn'] as const
export const COVERAGES = ['PhoneNumber', 'Account', 'CampaignType'] as const
export const CONSENT_SOURCES = ['Recipient', 'Api', 'Upstream', 'Carrier'] as const
export const CAMPAIGN_TYPES = ['Conversational', 'Informational', 'Promotional'] as const

export interface ConsentSpec {
  /** The number of ours, E.164; absent for `CampaignType`. */
  from?: string
  /** The contact, E.164. */
  to: string
  optStatus: (typeof OPT_STATUSES)[number]
  coverage: (typeof COVERAGES)[number]
  campaignType?: (typeof CAMPAIGN_TYPES)[number]
  source: (typeof CONSENT_SOURCES)[number]
}

export interface NewConsent extends Partial<Omit<ConsentSpec, 'to'>> {
  to: string
  /** Default: that of the extension that has `from`, else the first one. */
  accountId?: string
  /** Epoch milliseconds. Default: now. */
  modifiedAt?: number
}

export interface SocketFault {
  kind: SocketFaultKind
  /** Only sockets of this extension. */
  extensionId?: string
  /** How many of the next connections, tickets, subscriptions or events it affects. Null: all until a reset. Default 1. */
  calls?: number | null
  /** How late a delayed event arrives. Default 1000. */
  ms?: number
}

/** What happens to the sockets that bring events. The first nine affect open sockets at once, the others what comes next. */
export const SOCKET_FAULTS = [
  /** A closing frame. */
  'close',
  /** The connection ends without a closing frame. */
  'cut',
  /** The frame WSG-902, then a closing frame. */
  'idle',
  /** The same with WSG-903. */
  'absolute',
  /** The socket stays open, but nothing gets through either way. */
  'silent',
  /** A `Heartbeat` of the platform's own, which needs no answer. */
  'heartbeat',
  /** A frame that is not JSON. */
  'no-json',
  /** A frame of 20 MB. */
  'huge',
  /** Only the first part of a frame. */
  'no-body',
  /** The upgrade is answered 503. */
  'refuse',
  /** The upgrade is answered 401, as with a ticket that has expired. */
  'unauthorized',
  /** The upgrade is never answered. */
  'hang',
  /** An `Error` frame instead of `ConnectionDetails`, then a closing frame. */
  'error',
  /** No `ConnectionDetails`; everything else works. */
  'no-details',
  /** The session is not recovered. Only connections that ask for it count. */
  'forget',
  /** The subscription is answered after its first event. */
  'early-event',
  /** The ticket is refused. 403: the app lacks the permission. */
  'ticket-401',
  'ticket-403',
  'ticket-429',
  'ticket-503',
  /** The ticket is never answered. */
  'ticket-hang',
  /** The subscription is refused: 403, SUB-505. */
  'no-subscription',
  /** An event is lost, late, or sent twice. */
  'drop',
  'delay',
  'duplicate',
] as const
export type SocketFaultKind = (typeof SOCKET_FAULTS)[number]
