import type { ConsentPage, ConsentQuery } from './consents.ts'
import type { EventSocket, EventSocketRequest } from './event-socket.ts'
import type { AuthorizeRequest, CodeExchange, TokenPair } from './grants.ts'
import type { Campaign, ListedNumbers } from './listed-numbers.ts'
import type { ThreadsFeature } from './message-threads.ts'
import type { OutboundSms, SmsAnswer } from './outbound-sms.ts'
import type { ProviderSubscription, SubscriptionRequest } from './provider-subscription.ts'

/**
 * The port to the telephony provider, without its wire format. Every call is bounded in time. Failures of the provider or the
 * network are values, never exceptions, and never contain a token, a header or a message text.
 */
export interface Provider {
  /**
   * How far this machine's steady clock is ahead of the provider's, by the `Date` of its latest answer: up to a second too much. Null before the
   * first.
   */
  clockSkewMs(): number | null
  /** How many calls of a group of its rate limits the provider allows an extension in a minute, as its answers say; null if unknown. */
  ratePerMinute(group: string): number | null
  /** Whether any call has succeeded since the start. */
  hasAnswered(): boolean
  /** The address where a person authorizes an extension (OAuth 2.0 authorization code with PKCE S256). */
  authorizeUrl(request: AuthorizeRequest): string
  /** Exchanges a single-use authorization code. Must happen within 60 s of the redirect. */
  exchangeCode(request: CodeExchange): Promise<ProviderResult<TokenPair>>
  /** Opens a session with a user's JWT (RFC 7523), which may be presented any number of times. */
  exchangeJwt(jwt: string): Promise<ProviderResult<TokenPair>>
  /** Rotates the pair. The old refresh token stays valid until the new access token has been used. Only with a JWT may the new one be missing. */
  refresh(refreshToken: string, isKeptByJwt?: boolean): Promise<ProviderResult<TokenPair>>
  /** Ends the session of a token: all its tokens become invalid. */
  revoke(token: string): Promise<ProviderResult<void>>
  /** The extension that owns the access token, and its account. */
  getExtension(accessToken: string): Promise<ProviderResult<ProviderExtension>>
  /** The numbers of the token's extension; all pages. */
  listNumbers(accessToken: string): Promise<ProviderResult<ListedNumbers>>
  /** The 10DLC campaign of one of these numbers; null if it is in none. */
  readCampaign(accessToken: string, providerNumberId: string): Promise<ProviderResult<Campaign | null>>
  /** Sends one message. Not idempotent: read `reason` before calling again. */
  sendSms(accessToken: string, message: OutboundSms): Promise<ProviderResult<SmsAnswer>>
  /** Messages of the token's extension in the provider's store that were created in the given time; all pages, oldest first. */
  listMessages(accessToken: string, query: MessageQuery): Promise<ProviderResult<StoredSms[]>>
  readThreadsFeature(accessToken: string): Promise<ProviderResult<ThreadsFeature>>
  listConsents(accessToken: string, query: ConsentQuery): Promise<ProviderResult<ConsentPage>>
  /** Inbound messages of the threads that the user may read, by time; all pages, oldest first. */
  listThreadMessages(accessToken: string, query: Omit<MessageQuery, 'direction'>): Promise<ProviderResult<StoredSms[]>>
  /** Begins a sync of threads, which brings all later messages. */
  startThreadSync(accessToken: string): Promise<ProviderResult<string>>
  /** The messages since then, and the token for the next sync. A token that the provider no longer knows gives a 400. */
  syncThreads(
    accessToken: string,
    query: { syncToken: string } & Pick<MessageQuery, 'skipped'>,
  ): Promise<ProviderResult<{ records: StoredSms[]; syncToken: string }>>
  /**
   * The bytes of an attachment, streamed. Resolves with the first bytes. The address is dialed only if it is the provider's own, and no
   * redirect is followed. The stream ends with an error after a minute, or after 5 MiB.
   */
  readAttachment(accessToken: string, attachment: Attachment): Promise<ProviderResult<AttachmentContent>>
  createSubscription(accessToken: string, request: SubscriptionRequest): Promise<ProviderResult<ProviderSubscription>>
  getSubscription(accessToken: string, subscriptionId: string): Promise<ProviderResult<ProviderSubscription>>
  /** All webhook subscriptions of this extension and this client. */
  listSubscriptions(accessToken: string): Promise<ProviderResult<ProviderSubscription[]>>
  renewSubscription(accessToken: string, subscriptionId: string): Promise<ProviderResult<ProviderSubscription>>
  /** Deletes a subscription. One that is already gone counts as deleted. */
  deleteSubscription(accessToken: string, subscriptionId: string): Promise<ProviderResult<void>>
  /** Opens a socket for events of this extension. Its ticket counts for the same limit as tokens: five a minute. */
  openEventSocket(accessToken: string, request: EventSocketRequest): Promise<ProviderResult<EventSocket>>
  /** Reads a provider event from a webhook or a socket. Never throws. */
  parseInboundEvent(body: unknown): InboundEvent
  /** Requests a login page without showing it, to check whether the provider accepts the redirect URI. */
  probeAuthorize(request: AuthorizeRequest): Promise<ProviderResult<void>>
  /** What a person can do about a refusal, as a sentence in the gateway's own words. `command`: connects the extension again. */
  fixOf(failure: ProviderFailure, step: Step, publicUrl: string, command?: string): string
  /** Whether the refusal lasts until a person acts or until the requested pause is over. */
  isStanding(failure: ProviderFailure): boolean
}

/** The step that the provider refused. */
export type Step =
  | 'authorization'
  | 'jwt'
  | 'refresh'
  | 'extension'
  | 'numbers'
  | 'messages'
  | 'threads'
  | 'subscription'
  | 'send'

export type ProviderResult<T> = { ok: true; value: T } | { ok: false; failure: ProviderFailure }

export interface ProviderFailure {
  reason: FailureReason
  /** HTTP status, or null when no response was read. */
  status: number | null
  /**
   * The provider's own code (`MSG-304`, `OAU-213`), the OAuth error word, or the network error's code (`ECONNREFUSED`). Null for an
   * answer that is not in the provider's form.
   */
  code: string | null
  /** The provider's message or the gateway's own words: at most 300 characters, safe to show to a tenant. */
  message: string
  /** OAuth `error` member of a token answer, for example `invalid_grant`. */
  oauthError: string | null
  /** From `Retry-After`, milliseconds; 0 if it is unreadable, null if it is absent. */
  retryAfterMs: number | null
  /** The provider's `RCRequestId`, for its support. */
  requestId: string | null
  /** The permission that the app or the user lacks (`ReadAccounts`), if the provider names one. */
  permission?: string | undefined
}

/**
 * - `rejected`: a definite refusal (3xx or 4xx in the provider's own error form); repeating is pointless.
 * - `intercepted`: a 3xx or 4xx in any other form. A proxy, a firewall or a CDN in between answered; nothing was done.
 * - `unauthorized`: 401 in any form; the access token may be invalid, nothing was done.
 * - `rate_limited`: 429; nothing was done, repeat after `retryAfterMs` (60 s if absent).
 * - `unavailable`: 503 in the provider's own error form; nothing was done.
 * - `unreachable`: refused connection, DNS, TLS; the request never left.
 * - `ambiguous`: timeout, reset, 408, other 5xx, an unreadable 2xx; it may have been done.
 */
export type FailureReason =
  | 'rejected'
  | 'intercepted'
  | 'unauthorized'
  | 'rate_limited'
  | 'unavailable'
  | 'unreachable'
  | 'ambiguous'

/** Whether there was an answer, but not in the provider's form. */
export const isForeign = ({ status, code }: ProviderFailure): boolean => status !== null && code === null

export interface ProviderExtension {
  extensionId: string
  accountId: string
  /** Null if the provider gives none. */
  name: string | null
  /** The short number within the account, such as `101`; null if the provider gives none. */
  extensionNumber: string | null
}

export interface MessageQuery {
  /** Includes messages of call queues that the extension may read. A provider may refuse this. */
  ofEveryOwner?: boolean
  direction: 'Inbound' | 'Outbound'
  /** Epoch milliseconds, both inclusive; up to now if `until` is absent. */
  since: number
  until?: number
  /**
   * Called for each unreadable record, which is then skipped. Without this callback, one such record fails the listing, because a caller must
   * not conclude that a message is absent when its record is unreadable.
   */
  skipped?(record: UnreadableRecord): void
}

/** A record of the message store without a member that every message has. */
export interface UnreadableRecord {
  /** Null if the id itself cannot be read. */
  providerMessageId: string | null
  /** The first member that cannot be read, for example `creationTime`. */
  member: string
}

/** The code of a failure: the list is longer than a listing may read. */
export const LIST_TOO_LONG = 'ERR_TOO_MANY_PAGES'

export type InboundEvent =
  | {
      kind: 'sms'
      /** The subscription that the event names, if any. Only the request's token decides. */
      subscriptionId: string | null
      /** The extension that owns the subscription, not the one that owns the number (a call queue may). */
      ownerId: string | null
      sms: InboundEventSms
    }
  /** There is news in message threads, or a consent of the account has changed. Ids as above. */
  | { kind: 'threads' | 'consents'; subscriptionId: string | null; ownerId: string | null }
  /** Nothing to store; `why` is for the log and contains nothing of the event. */
  | { kind: 'ignored'; subscriptionId: string | null; why: string }

/** An event's data about an SMS, in the form of a record. `createdAt` is null if the event omits it. */
export type InboundEventSms = Pick<StoredSms, 'providerMessageId' | 'from' | 'to' | 'text' | 'attachments'> & {
  createdAt: number | null
}

/** An attachment of a text, from the provider's record. */
export interface Attachment {
  attachmentId: string
  /** `type/subtype`, in lower case. */
  contentType: string
  /** Bytes; null if the record does not say. */
  size: number | null
  fileName: string | null
  /** The provider's address of the bytes; null if the record does not say. Not checked. */
  uri: string | null
}

export interface AttachmentContent {
  /** `type/subtype`, in lower case, from the answer; `application/octet-stream` if it has none. */
  contentType: string
  bytes: ReadableStream<Uint8Array>
  /** Resolves when no more bytes are read: at the end, after an error, or on timeout. */
  ended: Promise<void>
}

/** The code of a wait: the user has used up the logins of a minute. */
export const LOGINS_USED_UP = 'ERR_LOGINS_USED_UP'
/** The code of a wait: the tokens could not be refreshed. */
export const TOKENS_AWAITED = 'ERR_TOKENS_AWAITED'

/** The code of a failure: a refresh or a JWT was answered with the tokens of another extension. */
export const FOREIGN_OWNER = 'ERR_FOREIGN_OWNER'

/** The code of a failure: none of the numbers may send SMS. */
export const NO_SMS_NUMBER = 'ERR_NO_SMS_NUMBER'

export interface Recipient {
  /** A phone number or an extension's number. */
  phoneNumber: string | null
  /** Marks the extension's own number on a group message. */
  target: boolean
}

/** One SMS of the provider's message store. */
export interface StoredSms {
  providerMessageId: string
  direction: 'Inbound' | 'Outbound'
  /** A phone number or an extension's number; null for a sender without one. */
  from: string | null
  to: Recipient[]
  /** The provider's `subject`; empty for an MMS without text. */
  text: string
  /** `Queued`, `Sent`, `Delivered`, `SendingFailed`, `DeliveryFailed`, `Received`. */
  messageStatus: string
  /** Why it was not delivered (`SMS-CAR-430`); null if the provider names no code. */
  deliveryErrorCode: string | null
  /** Epoch milliseconds. */
  createdAt: number
  /** The types of an MMS's attachments besides its text: `type/subtype` in lower case, null if the record has none. */
  mediaTypes: readonly (string | null)[]
  attachments: readonly Attachment[]
}
