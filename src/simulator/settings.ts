import { z } from 'zod'
import { GRANTS, NUMBER_FORMS, SHARED_OWNER_ANSWERS } from '../core/simulator-access.ts'

const PERMISSIONS = ['ReadAccounts', 'ReadMessages', 'SMS', 'SubscriptionWebhook', 'WebSocketsSubscription'] as const

const flag = z.boolean().exactOptional()
const amount = z.number().min(0).exactOptional()
const lifetime = z.number().positive().nullable().exactOptional()
const listOf = <T extends z.ZodType>(item: T) => z.array(item).exactOptional()

/**
 * Settings that a test or an operator may change while the simulator runs. Times are milliseconds unless their names
 * say otherwise.
 */
export const SettingsShape = z.strictObject({
  /** The app's permissions (RingCentral developer guide, "Permissions"); `SMS` includes `ReadMessages`. */
  permissions: listOf(z.enum(PERMISSIONS)),
  /** Serve a page with a button per extension instead of approving at once. */
  loginPage: flag,
  /** Redirect URIs that are registered for the app. If empty, any is accepted. */
  redirectUris: listOf(z.string()),
  /** The grants that the app may use. An app of the platform has one kind of authentication; this one has all. */
  grants: listOf(z.enum(GRANTS)),
  /** The app's "Issue refresh tokens" setting. */
  issueRefreshTokens: flag,
  accessTokenSeconds: amount,
  refreshTokenSeconds: amount,
  /** From acceptance to `Sent`. */
  sentAfterMs: amount,
  /** From acceptance to `Delivered`. Null: messages stay `Sent`, as with most US carriers. */
  deliveredAfterMs: z.number().min(0).nullable().exactOptional(),
  /** How records and events write phone numbers; the forms take turns. */
  numberForms: z.array(z.enum(NUMBER_FORMS)).min(1).exactOptional(),
  /** That `owner` needs a feature of the account is documented, but not what happens without it. */
  sharedOwner: z.enum(SHARED_OWNER_ANSWERS).exactOptional(),
  /** Whether users get events of texts to the numbers of their queues. */
  queueEvents: flag,
  /** Whether the account has the feature `MessageThreads` ("Shared Inbox"). */
  messageThreads: flag,
  /** A session ends this long after its login, whatever its tokens say. Null: it has no such end. */
  sessionSeconds: lifetime,
  /** A session that is not used for so long ends. Null: it has no such end. */
  sessionIdleSeconds: lifetime,
  /** How long a new message is absent from message-store lists. */
  indexDelayMs: amount,
  /** Accept `http:` webhook addresses, which the platform refuses with SUB-523. */
  allowHttpWebhooks: flag,
  /** How long a webhook may take to answer a handshake or an event, in real time. */
  webhookTimeoutMs: amount,
  /** The longest lifetime of a subscription. */
  maxSubscriptionSeconds: amount,
  /** The lifetime of a ticket for one socket. */
  ticketSeconds: amount,
  /**
   * What a ticket does that has opened a socket: the guide says that it is good for a single use. RingCentral's own client uses it again
   * within its lifetime, which ends the earlier socket (github.com/ringcentral/ringcentral-extensible, issue 39).
   */
  ticketReuse: z.enum(['refused', 'replaces']).exactOptional(),
  /** A socket ends after this time, and after this time without a frame. */
  socketSeconds: amount,
  socketIdleSeconds: amount,
  /** How long the session of a socket can be recovered, and how many events wait for that. */
  recoverySeconds: amount,
  recoveryBufferSize: amount,
  /** Each socket gets a ping after this time, and is cut if it does not answer in time, both in real time. */
  socketPingMs: amount,
  socketPongMs: amount,
  /** New subscriptions get all their filters in `disabledFilters`. */
  refuseFilters: flag,
  /** A subscription whose deliveries have failed for at least this long is blacklisted at the next failure. */
  blacklistAfterMs: amount,
})

export type Settings = Required<z.output<typeof SettingsShape>>

export type NumberForm = (typeof NUMBER_FORMS)[number]

export type Permission = (typeof PERMISSIONS)[number]

export type Grant = (typeof GRANTS)[number]

/** The provider's maximum for webhooks is ten years. */
const TEN_YEARS_SECONDS = 315_360_000

export const defaultSettings = (allowHttpWebhooks: boolean): Settings => ({
  permissions: ['ReadMessages', 'ReadAccounts', 'SubscriptionWebhook', 'WebSocketsSubscription', 'SMS'],
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
  ticketSeconds: 30,
  ticketReuse: 'refused',
  socketSeconds: 86_400,
  socketIdleSeconds: 1800,
  recoverySeconds: 180,
  recoveryBufferSize: 100,
  socketPingMs: 30_000,
  socketPongMs: 10_000,
  refuseFilters: false,
  blacklistAfterMs: 600_000,
})

/** Whether the app has a permission, directly or as part of another one. */
export const hasPermission = ({ permissions }: Settings, permission: Permission): boolean =>
  permissions.includes(permission) || (permission === 'ReadMessages' && permissions.includes('SMS'))
