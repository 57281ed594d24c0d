import type { FailureCode } from '../core/message-failure.ts'
import type { DeliveryConclusion } from '../db/schema/delivery-states.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import type { OptOutSource } from '../db/schema/opt-outs.ts'

/** An outbound message changed its status. Fields as the contract prints them. */
export interface SmsStatusEvent {
  type: 'sms_status'
  messageId: string
  appId: string
  tenantId: string
  status: MessageStatus
  rcMessageId?: string
  error?: string
  timestamp: string
}

/** An inbound SMS was stored. */
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

/** It is known what became of a message after `sent`. */
export interface SmsDeliveryEvent {
  type: 'sms_delivery'
  messageId: string
  appId: string
  tenantId: string
  rcMessageId: string
  deliveryStatus: DeliveryConclusion
  errorCode?: string
  reason?: string
  timestamp: string
}

/** A contact opted out of a number of the tenant, or in again. */
export interface OptOutEvent {
  type: 'opt_out'
  tenantId: string
  number: string
  contact: string
  optedOut: boolean
  source: OptOutSource
  timestamp: string
}

export type GatewayEvent = SmsStatusEvent | SmsInboundEvent | SmsDeliveryEvent | OptOutEvent

/** `failure`: why a message failed, for those who must not read its text. */
type Listener = (event: GatewayEvent, failure: FailureCode | null) => void

/** Where events go after their commit. Nothing is queued or replayed: the database is what lasts. */
export interface Hub {
  publish(event: GatewayEvent, failure?: FailureCode | null): void
  /** Whether anybody listens: an event that nobody hears need not be made. */
  readonly isHeard: boolean
  /** Hears every event of every tenant from now on; the answer ends it. */
  subscribe(listener: Listener): () => void
  /** An app's key, or all keys of a tenant, stopped being good: whoever listens with them is cut off. */
  revoke(scope: RevokedScope): void
  onRevoke(listener: (scope: RevokedScope) => void): () => void
}

export type RevokedScope = { appId: string } | { tenantId: string }

export function createHub(): Hub {
  const events = new Set<Listener>()
  const revocations = new Set<(scope: RevokedScope) => void>()
  return {
    publish: (event, failure = null) => events.forEach((listener) => listener(event, failure)),
    get isHeard() {
      return events.size > 0
    },
    subscribe: (listener) => added(events, listener),
    revoke: (scope) => revocations.forEach((listener) => listener(scope)),
    onRevoke: (listener) => added(revocations, listener),
  }
}

function added<Item>(set: Set<Item>, item: Item): () => void {
  set.add(item)
  return () => set.delete(item)
}
