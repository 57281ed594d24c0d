// The API's shapes, written by hand, because types that come from the gateway's schemas would need zod. A type test proves
// each equal to the schema of its route. All times are ISO 8601 with milliseconds, in UTC.

export type MessageStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'received'
export type Direction = 'outbound' | 'inbound'
/** What happened to the message after `sent`. `unknown`: unknown after 24 hours, or the gateway does not track deliveries. */
export type DeliveryStatus = 'pending' | 'delivered' | 'undelivered' | 'unknown'
/** Why a message has not been sent yet. If several reasons apply, the first of these. */
export type WaitingReason =
  | 'suspended'
  | 'scheduled'
  | 'restore'
  | 'reauthorization'
  | 'number_lookup'
  | 'reconciling'
  | 'provider_unreachable'
  | 'provider_paused'
  | 'order'
  | 'number_limit'
  | 'extension_limit'

/** Why a message has not been sent yet. */
export interface Waiting {
  reason: WaitingReason
  /** When that ends, if it is known. */
  until?: string
}

/** An SMS to send. */
export interface NewMessage {
  /** The recipient, E.164: `+15555550199`. */
  to: string
  /** A number of a connected extension, E.164. */
  from: string
  /** 1 to 1600 UTF-16 code units. */
  body: string
  /** A user in your own system; `sms.list` filters by it. */
  userId?: string | null | undefined
  /** When to send it: with an offset from UTC, at most 30 days ahead. The past means now. */
  sendAt?: string | Date | undefined
  /** Up to 10 uploaded files, in order: together at most 1,500,000 bytes. */
  mediaIds?: readonly string[] | null | undefined
}

/** An accepted message: it is stored and will be sent. */
export interface Accepted {
  messageId: string
  status: 'queued'
}

/** The state of one message. */
export interface MessageState {
  messageId: string
  status: MessageStatus
  /** The provider's message id, once it is known. */
  rcMessageId: string | null
  /** Why it was not sent; only with status `failed`. */
  error: string | null
  to: string
  from: string
  body: string
  /** Inbound messages only. */
  receivingExtensionId?: string
  createdAt: string
  updatedAt: string
}

/** Why a message was not delivered after it was sent. */
export interface DeliveryError {
  /** The provider's code; null if it gave none. */
  code: string | null
  /** In plain words. */
  reason: string
}

/** The results of a message's webhooks, by the latest ended attempt of each delivery. */
export interface MessageWebhooks {
  failed: number
  total: number
  /** Of the newest attempt; null if it had no response. */
  lastStatusCode: number | null
}

/** A message of a list. */
export interface Message extends MessageState {
  jobId: string
  appId: string
  tenantId: string
  userId: string | null
  direction: Direction
  /** With `include: 'delivery'`, of outbound messages; null if it was not sent. */
  deliveryStatus?: DeliveryStatus | null
  /** With `include: 'delivery'`, of outbound messages: why it was not delivered; null if it was, or if that is not known. */
  deliveryError?: DeliveryError | null
  /** With `include: 'delivery'`; null if it has no webhook delivery. */
  webhooks?: MessageWebhooks | null
  /** With `include: 'delivery'`, of outbound messages; null if it was not scheduled. */
  sendAt?: string | null
  /** With `include: 'delivery'`, of outbound messages; null if nothing holds it. */
  waiting?: Waiting | null
  /** With `include: 'delivery'`: how many files the message carries; absent for an outbound text. */
  attachments?: number
}

/** `waiting`: not sent yet, and not scheduled for later. `scheduled`: its `sendAt` is to come. `failed`: excludes cancelled ones. */
export type ListedState = 'waiting' | 'scheduled' | 'failed' | 'cancelled' | 'undelivered'

/** Which messages to list. */
export interface MessageFilter {
  appId?: string | undefined
  tenantId?: string | undefined
  userId?: string | undefined
  direction?: Direction | undefined
  status?: MessageStatus | undefined
  state?: ListedState | undefined
  /** Why it failed: `unknown_number`, `rejected`, `rejected:CMN-101` and so on, as `errors` of the overview name it. */
  failure?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Messages of this number of yours, in both directions. */
  number?: string | undefined
  /** Messages with this contact, in both directions: a number, a short code or a sender's name. */
  contact?: string | undefined
  /** The last digits of the other number, 3 to 15. At most 100 contacts may have them. */
  contactEndsWith?: string | undefined
  /** Created at or after. A date alone, `2026-11-24`, is the whole day in UTC. */
  startDate?: string | Date | undefined
  /** Created at or before. */
  endDate?: string | Date | undefined
  /** Adds `webhooks`, and to outbound messages `deliveryStatus`, `deliveryError`, `sendAt` and `waiting`. */
  include?: 'delivery' | undefined
  /** Messages per page, 1 to 100. */
  limit?: number | undefined
}

/** Which failed messages to count. */
export type FailuresFilter = Omit<MessageFilter, 'direction' | 'status' | 'state' | 'include' | 'limit'>

/** Messages that failed for the same reason. */
export interface FailureGroup {
  /** The value of the filter `failure` that lists them. */
  failure: string
  /** What all of them have as `error`; null if they differ, or the word says all. */
  error: string | null
  count: number
  /** Of these, how many the operator has sent again. */
  resent: number
  /** When the oldest of them was accepted. */
  firstAt: string
  lastAt: string
}

/** How many SMS a text takes. */
export interface Preview {
  encoding: 'GSM-7' | 'UCS-2'
  segments: number
  /** Septets in GSM-7, UTF-16 code units in UCS-2. */
  characters: number
  /** Distinct code points that make the text UCS-2. */
  nonGsmCharacters: string[]
}

/** Every step of a message, its attempts and webhook deliveries included. */
export interface Timeline {
  messageId: string
  status: MessageStatus
  deliveryStatus: DeliveryStatus | null
  /** Why it has not been sent yet; null if nothing holds it. */
  waiting: Waiting | null
  /** Oldest first. Attempts older than 7 days may be gone. */
  entries: TimelineEntry[]
}

/** One step of a message. */
export type TimelineEntry =
  | { at: string; type: 'queued'; attachments?: number }
  | { at: string; type: 'scheduled'; sendAt: string }
  | AttemptEntry
  | { at: string; type: 'sent'; rcMessageId: string | null }
  | { at: string; type: 'failed'; error: string | null }
  | { at: string; type: 'delivered' }
  | { at: string; type: 'undelivered'; errorCode?: string; reason: string }
  | { at: string; type: 'received'; attachments: number }
  | { at: string; type: 'webhook'; deliveryId: string; attemptNumber: number; outcome: DeliveryOutcome }

/** One call to the provider to send the message. */
export interface AttemptEntry {
  /** When the call began. */
  at: string
  type: 'attempt'
  number: number
  /** Also `unknown` while the call is open. An unknown outcome stays `unknown` after the gateway has asked the provider. */
  outcome: 'accepted' | 'rejected' | 'not_accepted' | 'unknown'
  httpStatus?: number
  /** The provider's code, or the connection's error. */
  errorCode?: string
  /** How long the call took, milliseconds; null while it is open. */
  durationMs: number | null
  /** Of the first call: the provider had paused the extension, because of another message's 429. */
  heldBy?: 'provider_paused'
  /** The provider's words. */
  message?: string
}

/** `success`: the destination answered 2xx. */
export type DeliveryOutcome = 'success' | 'http_error' | 'timeout' | 'network_error'
