import { z } from 'zod'
import { DELIVERY_CONCLUSIONS } from '../../db/schema/delivery-states.ts'
import { appId, contactNumber, messageId, ownNumber, tenantId, time, triggerId } from './answer-fields.ts'
import { OptOutSource } from './named-enums.ts'

// Events as the WebSocket, `GET /v1/events` and webhooks describe them. `messages/realtime/event.ts` builds them.

export const SmsStatus = z
  .object({
    type: z.literal('sms_status'),
    messageId,
    appId,
    tenantId,
    status: z.enum(['queued', 'sending', 'sent', 'failed']),
    rcMessageId: z.string().optional().meta({ description: 'Only with status sent' }),
    error: z.string().optional().meta({ description: 'Only with status failed' }),
    timestamp: time,
  })
  .meta({ id: 'SmsStatusEvent' })

export const SmsInbound = z
  .object({
    type: z.literal('sms_inbound'),
    messageId,
    from: contactNumber,
    to: ownNumber,
    body: z.string(),
    rcMessageId: z.string(),
    tenantId,
    timestamp: time,
    receivingExtensionId: z.string().optional(),
  })
  .meta({ id: 'SmsInboundEvent' })

export const SmsDelivery = z
  .object({
    type: z.literal('sms_delivery'),
    messageId,
    appId,
    tenantId,
    rcMessageId: z.string(),
    deliveryStatus: z.enum(DELIVERY_CONCLUSIONS),
    errorCode: z.string().optional().meta({ description: "The provider's code, of an undelivered message" }),
    reason: z.string().optional().meta({ description: 'Only with deliveryStatus undelivered' }),
    timestamp: time,
  })
  .meta({ id: 'SmsDeliveryEvent' })

export const OptOut = z
  .object({
    type: z.literal('opt_out'),
    tenantId,
    number: ownNumber,
    contact: contactNumber,
    optedOut: z.boolean(),
    source: OptOutSource,
    timestamp: time,
  })
  .meta({ id: 'OptOutEvent' })

/** Everything that the event log has. */
export const Event = z.discriminatedUnion('type', [SmsStatus, SmsInbound, SmsDelivery, OptOut]).meta({ id: 'Event' })

export const WebhookTest = z
  .object({ type: z.literal('test'), timestamp: time, source: z.string().meta({ example: 'sgw' }) })
  .meta({ id: 'WebhookTest' })
export const TriggerInbound = SmsInbound.extend({ triggerId }).meta({ id: 'TriggerInbound' })

/** Messages of the WebSocket to the client. */
export const SocketMessage = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('auth_ok') }).meta({ id: 'SocketAuthOk' }),
    z
      .object({ type: z.literal('auth_error'), error: z.string().meta({ example: 'Invalid API key' }) })
      .meta({ id: 'SocketAuthError', description: 'The connection closes with 1008' }),
    z.object({ type: z.literal('ping') }).meta({ id: 'SocketPing', description: 'Every 30 seconds; needs no answer' }),
    z
      .object({ type: z.literal('cursor'), cursor: z.string() })
      .meta({ id: 'SocketCursor', description: '`GET /v1/events` continues after it' }),
    SmsStatus,
    SmsInbound,
    SmsDelivery,
    OptOut,
  ])
  .meta({ id: 'SocketMessage', description: 'A message to the client. Clients ignore a `type` that they do not know' })

/** The first message of the client. */
export const SocketAuth = z
  .object({
    type: z.literal('auth'),
    apiKey: z.string().optional().meta({ description: 'From server to server', example: 'sgw_…' }),
    token: z.string().optional().meta({ description: 'Of `POST /v1/ws/token`, for browsers', example: 'wst_…' }),
  })
  .meta({ id: 'SocketAuth', description: 'The first message of the client, with `apiKey` or `token`' })
