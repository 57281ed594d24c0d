import type { DeliveryStatus, MessageStatus } from './types.ts'

/** A message that your app sent changed its status. */
export interface SmsStatusEvent {
  type: 'sms_status'
  messageId: string
  appId: string
  tenantId: string
  status: Exclude<MessageStatus, 'received'>
  /** Only with status `sent`. */
  rcMessageId?: string
  /** Only with status `failed`. */
  error?: string
  timestamp: string
}

/** The tenant received an SMS. */
export interface SmsInboundEvent {
  type: 'sms_inbound'
  messageId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  tenantId: string
  timestamp: string
  receivingExtensionId?: string
}

/** It is known what happened to a message that your app sent. */
export interface SmsDeliveryEvent {
  type: 'sms_delivery'
  messageId: string
  appId: string
  tenantId: string
  rcMessageId: string
  deliveryStatus: Exclude<DeliveryStatus, 'pending'>
  /** The provider's code, of an undelivered message. */
  errorCode?: string
  /** Only with deliveryStatus `undelivered`. */
  reason?: string
  timestamp: string
}

/** A contact opted out of a number of the tenant, or in again. */
export interface OptOutEvent {
  type: 'opt_out'
  tenantId: string
  /** The tenant's own number. */
  number: string
  contact: string
  optedOut: boolean
  source: OptOutSource
  timestamp: string
}

/** A keyword of the contact, a code of the provider, or `optOuts.set`. */
export type OptOutSource = 'keyword' | 'provider' | 'api'

/** An event of the gateway. */
export type GatewayEvent = SmsStatusEvent | SmsInboundEvent | SmsDeliveryEvent | OptOutEvent

/** Events may be missing here: the gateway no longer has them. Read what you need with `sms.list`. */
export interface GapEvent {
  type: 'gap'
}

/** The body of a webhook: an event, to a trigger with its `triggerId`, or the test of `apps.testWebhook`. */
export type WebhookBody = (GatewayEvent & { triggerId?: string }) | TestEvent

/** What `apps.testWebhook` posts. */
export interface TestEvent {
  type: 'test'
  timestamp: string
  source: string
}

/** Events after a cursor, of `GET /v1/events`. */
export interface EventPage {
  /** Oldest first. */
  events: GatewayEvent[]
  /** Opaque: the `after` of the next request. */
  cursor: string
  /** Whether events after the request's cursor may be gone. */
  gap: boolean
}
