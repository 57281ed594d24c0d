import type { OptOutSource } from './event-types.ts'
import type { DeliveryError, DeliveryOutcome, DeliveryStatus, Direction, MessageStatus, Waiting } from './types.ts'

/** An app: one program with its own key. */
export interface App {
  appId: string
  tenantId: string
  name: string
  webhookUrl: string | null
  role: 'app'
  /** False after it was deactivated. */
  isActive: boolean
  /** The beginning of its key. */
  apiKeyPrefix: string
  lastUsedAt: string | null
  createdAt: string
  updatedAt: string
}

/** An app to register. */
export interface NewApp {
  /** 1 to 100 characters. */
  name: string
  /** Your own tenant, of `me()`. */
  tenantId: string
  /** Where inbound messages are posted: https in production, at most 2000 characters. */
  webhookUrl?: string | null | undefined
}

/** A new app. `apiKey` and `webhookSecret` are shown only this once. */
export interface RegisteredApp {
  appId: string
  name: string
  apiKey: string
  apiKeyPrefix: string
  webhookSecret: string
  role: 'app'
  tenantId: string
}

/** What to change about an app. */
export interface AppChanges {
  /** Null removes it. */
  webhookUrl?: string | null | undefined
  /** False deactivates it. */
  isActive?: boolean | undefined
}

/** A new key. The old one no longer works. */
export interface RotatedKey {
  apiKey: string
  apiKeyPrefix: string
}

/** A new webhook secret. The old one no longer signs. */
export interface RotatedSecret {
  webhookSecret: string
}

/** How a destination answered the test payload. */
export interface TestResult {
  /** Whether it answered 2xx. */
  ok: boolean
  /** Its HTTP status, if not `ok`; 0 without a response. */
  status?: number
  error?: string
  /** The first 256 bytes of its response. */
  body?: string
}

/** How failed webhook deliveries are tried again. `none`: not at all. `short`: for 40 minutes. `standard`: for three days. */
export type RetryPolicy = 'none' | 'short' | 'standard'

/** An event that an app's webhook address can get. */
export type WebhookEventType = 'sms_inbound' | 'sms_status' | 'sms_delivery' | 'opt_out'

/** An address besides the apps that gets the tenant's inbound messages. */
export interface Trigger {
  triggerId: string
  callbackUrl: string
  createdAt: string
}

/** A new trigger. Its `secret`, which signs its webhooks, is shown only this once. */
export interface CreatedTrigger extends Trigger {
  secret: string
}

/** One POST of a webhook. */
export interface DeliveryAttempt {
  tenantId: string
  kind: 'app' | 'trigger'
  /** Only with kind `app`. */
  appId?: string
  /** Only with kind `trigger`. */
  triggerId?: string
  messageId: string
  url: string
  outcome: DeliveryOutcome
  /** Whenever a response was received. */
  statusCode?: number
  errorClass?: string
  errorMessage?: string
  /** The first 256 bytes of the response, with outcome `http_error`. */
  responseSnippet?: string
  durationMs: number
  attemptedAt: string
  /** The same for all attempts of a delivery. */
  deliveryId: string
  attemptNumber: number
  correlationId?: string
}

/** Which attempts to list. */
export interface DeliveryFilter {
  appId?: string | undefined
  triggerId?: string | undefined
  messageId?: string | undefined
  outcome?: DeliveryOutcome | undefined
  /** `never_arrived`: each delivery once, by its latest attempt, if that failed, no other is in progress or planned, and it was not dismissed. */
  state?: 'never_arrived' | undefined
  kind?: 'app' | 'trigger' | undefined
  startDate?: string | Date | undefined
  endDate?: string | Date | undefined
  /** Attempts per page, 1 to 100. */
  limit?: number | undefined
}

/** The attempt that will be made. */
export interface Redelivered {
  deliveryId: string
  attemptNumber: number
}

/** Which failed deliveries to attempt again, or to dismiss: those whose latest attempt failed in this range. */
export interface RecoverRange {
  since: string | Date
  /** Now, if absent. */
  until?: string | Date | undefined
  appId?: string | undefined
  triggerId?: string | undefined
}

/** How many deliveries will be attempted again. */
export interface Recovered {
  scheduled: number
}

/** How many deliveries no longer count as never arrived. */
export interface Dismissed {
  dismissed: number
}

/** A contact that has opted out of a number. */
export interface OptOut {
  /** The tenant's own number. */
  number: string
  contact: string
  source: OptOutSource
  since: string
}

/** `block`: messages to contacts that have opted out fail. `observe`: they are sent. */
export type OptOutPolicy = 'observe' | 'block'

/** Which pairs of numbers to list, E.164. */
export interface PairFilter {
  /** The tenant's own number. */
  number?: string | undefined
  contact?: string | undefined
  /** Entries per page, 1 to 100. */
  limit?: number | undefined
}

export interface ConversationFilter extends PairFilter {
  /** The last digits of the contact, 3 to 15. */
  contactEndsWith?: string | undefined
  /** Adds what happened to outbound messages. */
  include?: 'delivery' | undefined
}

export interface OptOutFilter extends PairFilter {
  /** Adds the tenant's policy to a page. */
  include?: 'policy' | undefined
}

/** A pair of numbers with its newest message. */
export interface Conversation {
  /** The tenant's own number. */
  number: string
  contact: string
  lastMessage: {
    messageId: string
    direction: Direction
    status: MessageStatus
    body: string
    createdAt: string
    /** With `include: 'delivery'`, of outbound messages: set when `status` is `failed`. */
    error?: string | null
    /** With `include: 'delivery'`, of outbound messages. */
    deliveryStatus?: DeliveryStatus | null
    /** With `include: 'delivery'`: why it was not delivered; absent if it was, or if that is not known. */
    deliveryError?: DeliveryError
    /** With `include: 'delivery'`, of outbound messages: why it has not been sent yet. */
    waiting?: Waiting | null
    /** With `include: 'delivery'`: how many pictures or other files it carries; absent without any. */
    attachments?: number
  }
  /** Whether the contact has opted out of the number. */
  optedOut: boolean
}

/** Who the key or token belongs to, and which gateway this is. An operator without `appId` has null in the first four. */
export interface Me {
  appId: string | null
  tenantId: string | null
  /** The app's. */
  name: string | null
  tenantName: string | null
  tenantStatus?: 'active' | 'suspended' | 'inactive' | null
  /** When the tenant got its status. */
  tenantStatusSince?: string | null
  operator: boolean
  /** The gateway's version. */
  version: string
  /** Whether the gateway runs outside production. */
  development: boolean
  /** How many bytes a file to send may have; 0 if nothing can be uploaded. */
  mediaLimit?: number
}
