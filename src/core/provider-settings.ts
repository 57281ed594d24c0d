/**
 * Settings that a test or an operator may change while the simulator runs. Times are milliseconds unless their names
 * say otherwise.
 */
export interface ProviderSettings {
  /** The app's permissions (RingCentral developer guide, "Permissions"); `SMS` includes `ReadMessages`. */
  permissions: Permission[]
  /** Serve a page with a button per extension instead of approving at once. */
  loginPage: boolean
  /** Redirect URIs registered for the app. If empty, any is accepted. */
  redirectUris: string[]
  /** The grants that the app may use. A RingCentral app has one kind of authentication; this one has all. */
  grants: Grant[]
  /** The app's "Issue refresh tokens" setting. */
  issueRefreshTokens: boolean
  accessTokenSeconds: number
  refreshTokenSeconds: number
  /** From acceptance to `Sent`. */
  sentAfterMs: number
  /** From acceptance to `Delivered`. Null: messages stay `Sent`, as with most US carriers. */
  deliveredAfterMs: number | null
  /** How records and events write phone numbers; the forms take turns. */
  numberForms: NumberForm[]
  /** The documentation says that `owner` needs a feature of the account, but not what happens without it. */
  sharedOwner: SharedOwnerAnswer
  /** Whether users get events of texts to the numbers of their queues. */
  queueEvents: boolean
  /** Whether the account has the feature `MessageThreads` ("Shared Inbox"): texts to numbers of queues and of the company go to threads. */
  messageThreads: boolean
  /** Whether the app may read message threads. */
  readThreads: boolean
  /** Whether the account shows its consents; `refused`: not to this app, `absent`: the platform has no such list. */
  consents: ConsentsAnswer
  /** A session ends this long after its login, whatever its tokens say. Null: never. */
  sessionSeconds: number | null
  /** A session ends after this long without use. Null: never. */
  sessionIdleSeconds: number | null
  /** How long a new message is absent from message-store lists. */
  indexDelayMs: number
  /** Accept `http:` webhook addresses, which the platform refuses with SUB-523. */
  allowHttpWebhooks: boolean
  /** How long a webhook may take to answer a handshake or an event, in real time. */
  webhookTimeoutMs: number
  /** The longest lifetime of a subscription. */
  maxSubscriptionSeconds: number
  /** The lifetime of a ticket for one socket. */
  ticketSeconds: number
  /**
   * What happens to a used ticket: the guide says that a ticket is valid for a single use. RingCentral's own client uses it again within its
   * lifetime, which ends the earlier socket (github.com/ringcentral/ringcentral-extensible, issue 39).
   */
  ticketReuse: 'refused' | 'replaces'
  /** A socket ends after this time, and after this time without a frame. */
  socketSeconds: number
  socketIdleSeconds: number
  /** How long a socket's session can be recovered, and how many events wait for that. */
  recoverySeconds: number
  recoveryBufferSize: number
  /** Each socket gets a ping after this time, and is cut if it does not answer in time, both in real time. */
  socketPingMs: number
  socketPongMs: number
  /** New subscriptions get all their filters in `disabledFilters`. */
  refuseFilters: boolean
  /** A subscription whose deliveries have failed for at least this long is blacklisted at the next failure. */
  blacklistAfterMs: number
}

export const PERMISSIONS = [
  'ReadAccounts',
  'ReadMessages',
  'SMS',
  'SubscriptionWebhook',
  'WebSocketsSubscription',
] as const
export type Permission = (typeof PERMISSIONS)[number]

/** The grants that an app may use; `jwt` is `urn:ietf:params:oauth:grant-type:jwt-bearer`. */
export const GRANTS = ['authorization_code', 'refresh_token', 'jwt'] as const
export type Grant = (typeof GRANTS)[number]

/** How records write phone numbers: `+18661234567`, `18661234567`, `(866)123-4567`. All occur (RingCentral API reference, `phoneNumber` of a message's parties). */
export const NUMBER_FORMS = ['e164', 'digits', 'american'] as const
export type NumberForm = (typeof NUMBER_FORMS)[number]

/** What lists with `owner=Any` and `owner=Shared` do: show the messages of call queues, or answer 400, or show none. */
export const SHARED_OWNER_ANSWERS = ['shown', 'refused', 'ignored'] as const
export type SharedOwnerAnswer = (typeof SHARED_OWNER_ANSWERS)[number]

export const CONSENTS_ANSWERS = ['shown', 'refused', 'absent'] as const
export type ConsentsAnswer = (typeof CONSENTS_ANSWERS)[number]
