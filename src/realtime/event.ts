import { isoTime } from '../core/clock.ts'
import type { FailureCode } from '../core/message-failure.ts'
import type { DeliveryConclusion } from '../db/schema/delivery-states.ts'
import { EVENT_KINDS, type EventKind } from '../db/schema/events.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import type { OptOutSource } from '../db/schema/opt-outs.ts'

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

export interface OutboundSubject {
  id: string
  appId: string
  tenantId: string
  rcMessageId?: string | null
  /** The reason of a failure, for people. */
  error?: string | null
}

/** `at`: the time of the change in epoch milliseconds, which is also the message's `updatedAt`. */
export function statusEvent(message: OutboundSubject, status: MessageStatus, at: number): SmsStatusEvent {
  const { id, appId, tenantId, rcMessageId = null, error = null } = message
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

export interface InboundSubject {
  id: string
  tenantId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  receivingExtensionId: string | null
}

export function inboundEvent(message: InboundSubject, at: number): SmsInboundEvent {
  const { id, from, to, body, rcMessageId, tenantId, receivingExtensionId } = message
  return {
    type: 'sms_inbound',
    messageId: id,
    from,
    to,
    body,
    rcMessageId,
    tenantId,
    timestamp: isoTime(at),
    ...(receivingExtensionId === null ? {} : { receivingExtensionId }),
  }
}

/** The fields of an `sms_delivery` event that are not in its message's row. The log stores them as `detail`. */
export type ConclusionDetail = Pick<SmsDeliveryEvent, 'deliveryStatus' | 'errorCode' | 'reason'>

export function concludedEvent(message: OutboundSubject, detail: ConclusionDetail, at: number): SmsDeliveryEvent {
  const { id, appId, tenantId, rcMessageId } = message
  return {
    type: 'sms_delivery',
    messageId: id,
    appId,
    tenantId,
    rcMessageId: rcMessageId ?? '',
    ...detail,
    timestamp: isoTime(at),
  }
}

/** The fields of an `opt_out` event that may have changed in its row of `opt_outs` since. The log stores them as `detail`. */
export type OptOutDetail = Pick<OptOutEvent, 'optedOut' | 'source'>

export interface OptOutSubject {
  tenantId: string
  number: string
  contact: string
}

export function optOutEvent(
  { tenantId, number, contact }: OptOutSubject,
  detail: OptOutDetail,
  at: number,
): OptOutEvent {
  const { optedOut, source } = detail
  return { type: 'opt_out', tenantId, number, contact, optedOut, source, timestamp: isoTime(at) }
}

/** A row of the log, joined with its message or opt-out. */
export interface LoggedRow extends OutboundSubject, InboundSubject {
  seq: number
  rcMessageId: string
  /** The code of a message's failure, so that listeners need not read its text. */
  failureCode: FailureCode | null
  /** A set of `EVENT_KINDS`. */
  kinds: number
  /** Epoch milliseconds. */
  at: number
  /** JSON; null for kinds without details. */
  detail: string | null
}

/** The events of a row, oldest first. */
export const eventsOf = (row: LoggedRow): GatewayEvent[] => kindsOf(row.kinds).map((kind) => eventOf(row, kind))

const KINDS = Object.keys(EVENT_KINDS) as EventKind[]

/** The members of a set of `EVENT_KINDS`, in order. */
const kindsOf = (kinds: number): EventKind[] => KINDS.filter((kind) => (kinds & EVENT_KINDS[kind]) !== 0)

function eventOf(row: LoggedRow, kind: EventKind): GatewayEvent {
  if (kind === 'received') return inboundEvent(row, row.at)
  if (kind === 'delivery') return concludedEvent(row, JSON.parse(row.detail ?? '{}') as ConclusionDetail, row.at)
  if (kind === 'optOut') return loggedOptOut(row)
  return statusEvent(row, kind, row.at)
}

function loggedOptOut({ tenantId, from: number, to: contact, detail, at }: LoggedRow): OptOutEvent {
  return optOutEvent({ tenantId, number, contact }, JSON.parse(detail ?? '{}') as OptOutDetail, at)
}
