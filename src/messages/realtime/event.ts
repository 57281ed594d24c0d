import { isoTime } from '../../core/clock.ts'
import type { FailureCode } from '../../core/message-failure.ts'
import type { DeliveryConclusion } from '../../db/schema/delivery-states.ts'
import { EVENT_KINDS, type EventKind } from '../../db/schema/events.ts'
import type { MessageStatus } from '../../db/schema/messages.ts'
import type { OptOutSource } from '../../db/schema/opt-outs.ts'

// The WebSocket, `GET /v1/events` and webhooks return the same events. All of them are built here.

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

/** A message was concluded: it is known what happened after `sent`. */
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

/** What an event is about: a message, or an opt-out, whose number is `from` and whose contact is `to`, as in an outbound message. */
export interface EventSubject {
  id: string
  appId: string
  tenantId: string
  from: string
  to: string
  body: string
  rcMessageId: string | null
  /** The reason of a failure, for people. */
  error: string | null
  receivingExtensionId: string | null
  /** The time of the change in epoch milliseconds, which is also the message's `updatedAt`. */
  at: number
  /** JSON: fields of the event that are not in its message's row, or may have changed in its row of `opt_outs` since. Null for kinds without any. */
  detail: string | null
}

/** A row of the log, joined with its message or opt-out. */
export interface LoggedRow extends EventSubject {
  seq: number
  /** The code of a message's failure, so that listeners need not read its text. */
  failureCode: FailureCode | null
  /** A set of `EVENT_KINDS`. */
  kinds: number
}

/** The events of a row, oldest first. */
export const eventsOf = (row: LoggedRow): GatewayEvent[] => kindsOf(row.kinds).map((kind) => eventOf(row, kind))

const KINDS = Object.keys(EVENT_KINDS) as EventKind[]

/** The members of a set of `EVENT_KINDS`, in order. */
const kindsOf = (kinds: number): EventKind[] => KINDS.filter((kind) => (kinds & EVENT_KINDS[kind]) !== 0)

/** The event of one kind about a subject. */
export function eventOf(subject: EventSubject, kind: EventKind): GatewayEvent {
  if (kind === 'received') return inboundEvent(subject)
  if (kind === 'delivery') return concludedEvent(subject)
  if (kind === 'optOut') return optOutEvent(subject)
  return statusEvent(subject, kind)
}

function inboundEvent(message: EventSubject): SmsInboundEvent {
  const { id, from, to, body, rcMessageId, tenantId, receivingExtensionId, at } = message
  return {
    type: 'sms_inbound',
    messageId: id,
    from,
    to,
    body,
    rcMessageId: rcMessageId ?? '',
    tenantId,
    timestamp: isoTime(at),
    ...(receivingExtensionId === null ? {} : { receivingExtensionId }),
  }
}

/** The `detail` of an `sms_delivery` event. */
export type ConclusionDetail = Pick<SmsDeliveryEvent, 'deliveryStatus' | 'errorCode' | 'reason'>

function concludedEvent({ id, appId, tenantId, rcMessageId, detail, at }: EventSubject): SmsDeliveryEvent {
  return {
    type: 'sms_delivery',
    messageId: id,
    appId,
    tenantId,
    rcMessageId: rcMessageId ?? '',
    ...(JSON.parse(detail ?? '{}') as ConclusionDetail),
    timestamp: isoTime(at),
  }
}

function optOutEvent({ tenantId, from: number, to: contact, detail, at }: EventSubject): OptOutEvent {
  const { optedOut, source } = JSON.parse(detail ?? '{}') as Pick<OptOutEvent, 'optedOut' | 'source'>
  return { type: 'opt_out', tenantId, number, contact, optedOut, source, timestamp: isoTime(at) }
}

function statusEvent(message: EventSubject, status: MessageStatus): SmsStatusEvent {
  const { id, appId, tenantId, rcMessageId, error, at } = message
  return {
    type: 'sms_status',
    messageId: id,
    appId,
    tenantId,
    status,
    ...(status === 'sent' && rcMessageId !== null ? { rcMessageId } : {}),
    ...(status === 'failed' && error !== null ? { error } : {}),
    timestamp: isoTime(at),
  }
}
