/**
 * Settings that a test or an operator may change while the simulator runs. Times are milliseconds unless their names
 * say otherwise.
 */
export interface Settings {
  /** The app's permissions (RingCentral developer guide, "Permissions"); `SMS` includes `ReadMessages`. */
  permissions: Permission[]
  /** Serve a page with a button per extension instead of approving at once. */
  loginPage: boolean
  /** Redirect URIs that are registered for the app. If empty, any is accepted. */
  redirectUris: string[]
  /** The grants that the app may use. An app of the platform has one kind of authentication; this one has all. */
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
  /**
   * What `owner=Any` and `owner=Shared` do in message-store lists: show the messages of call queues, or a 400, or nothing. That it
   * needs a feature of the account is documented, but not what happens without it.
   */
  sharedOwner: 'shown' | 'refused' | 'ignored'
  /** Whether users get events of texts to the numbers of their queues. */
  queueEvents: boolean
  /** Whether the account has the feature `MessageThreads` ("Shared Inbox"). */
  messageThreads: boolean
  /** A session ends this long after its login, whatever its tokens say. Null: it has no such end. */
  sessionSeconds: number | null
  /** A session that is not used for so long ends. Null: it has no such end. */
  sessionIdleSeconds: number | null
  /** How long a new message is absent from message-store lists. */
  indexDelayMs: number
  /** Accept `http:` webhook addresses, which the platform refuses with SUB-523. */
  allowHttpWebhooks: boolean
  /** How long a webhook may take to answer a handshake or an event, in real time. */
  webhookTimeoutMs: number
  /** The longest lifetime of a subscription. */
  maxSubscriptionSeconds: number
  /** New subscriptions get all their filters in `disabledFilters`. */
  refuseFilters: boolean
  /** A subscription whose deliveries have failed for at least this long is blacklisted at the next failure. */
  blacklistAfterMs: number
}

/** `+18661234567`, `18661234567` or `(866)123-4567`. Both others occur (RingCentral API reference, `phoneNumber` of a message's parties). */
export type NumberForm = 'e164' | 'digits' | 'american'

export type Permission = 'ReadAccounts' | 'ReadMessages' | 'SMS' | 'SubscriptionWebhook'

/** `jwt` is `urn:ietf:params:oauth:grant-type:jwt-bearer`. */
export type Grant = 'authorization_code' | 'refresh_token' | 'jwt'

/** The provider's maximum for webhooks is ten years. */
const TEN_YEARS_SECONDS = 315_360_000

export const defaultSettings = (allowHttpWebhooks: boolean): Settings => ({
  permissions: ['ReadMessages', 'ReadAccounts', 'SubscriptionWebhook', 'SMS'],
  loginPage: false,
  redirectUris: [],
  grants: ['authorization_code', 'refresh_token', 'jwt'],
  issueRefreshTokens: true,
  accessTokenSeconds: 3600,
  refreshTokenSeconds: 604_800,
  sentAfterMs: 1000,
  deliveredAfterMs: null,
  numberForms: ['e164'],
  sharedOwner: 'shown',
  queueEvents: true,
  messageThreads: false,
  sessionSeconds: null,
  sessionIdleSeconds: null,
  indexDelayMs: 0,
  allowHttpWebhooks,
  webhookTimeoutMs: 3000,
  maxSubscriptionSeconds: TEN_YEARS_SECONDS,
  refuseFilters: false,
  blacklistAfterMs: 600_000,
})

/** Whether the app has a permission, directly or as part of another one. */
export const hasPermission = ({ permissions }: Settings, permission: Permission): boolean =>
  permissions.includes(permission) || (permission === 'ReadMessages' && permissions.includes('SMS'))
