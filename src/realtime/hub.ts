import type { FailureCode } from '../core/message-failure.ts'
import type { DeliveryConclusion } from '../db/schema/delivery-states.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import type { OptOutSource } from '../db/schema/opt-outs.ts'

/** An outbound message changed its status. The fields are those of the contract. */
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

/** A message was concluded: it is known what became of it after `sent`. */
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

/** `failure`: the code of a message's failure, so that listeners need not read its text. */
type Listener = (event: GatewayEvent, failure: FailureCode | null) => void

/** Passes events to listeners after their commit. It neither queues nor repeats events; the event log in the database keeps them. */
export interface Hub {
  publish(event: GatewayEvent, failure?: FailureCode | null): void
  /** Whether there is a listener. Without one, callers need not make events. */
  readonly hasListeners: boolean
  /** Calls the listener for every event of every tenant; the returned function ends this. */
  subscribe(listener: Listener): () => void
  /** Call when an app's key or all keys of a tenant become invalid: sockets that use them are closed. */
  revoke(scope: RevokedScope): void
  onRevoke(listener: (scope: RevokedScope) => void): () => void
}

export type RevokedScope = { appId: string } | { tenantId: string }

export function createHub(): Hub {
  const events = new Set<Listener>()
  const revocations = new Set<(scope: RevokedScope) => void>()
  return {
    publish: (event, failure = null) => events.forEach((listener) => listener(event, failure)),
    get hasListeners() {
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
