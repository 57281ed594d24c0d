import { z } from 'zod'
import { DELIVERY_CONCLUSIONS } from '../../db/schema/delivery-states.ts'
import { OPT_OUT_SOURCES } from '../../db/schema/opt-outs.ts'
import { DEFAULT_EVENTS, MAX_EVENTS } from '../../core/limits.ts'
import { sizeUpTo, textFilter } from '../../http/list-query.ts'

export const EventsQuery = z.object({
  after: textFilter.meta({
    description:
      'A cursor of an earlier response or of the WebSocket. Without it the response has no events, only the current cursor',
    example: 'Cd0mLk2yY3uBv5rXq1ZsT8wPfHjNaG4eR6iOtKxMvQbSzUyWlDpFgC7hEn',
  }),
  limit: sizeUpTo(MAX_EVENTS, DEFAULT_EVENTS),
})

const timestamp = z.string().meta({ format: 'date-time', example: '2026-11-24T00:00:00.000Z' })
const messageId = z.string().meta({ example: 'msg_00c0ffee0001' })
const tenantId = z.string().meta({ example: 'tenant_00c0ffee00000001' })

const SmsStatus = z.object({
  type: z.literal('sms_status'),
  messageId,
  appId: z.string().meta({ example: 'app_00c0ffee00000001' }),
  tenantId,
  status: z.enum(['queued', 'sending', 'sent', 'failed']),
  rcMessageId: z.string().optional().meta({ description: 'Only with status sent' }),
  error: z.string().optional().meta({ description: 'Only with status failed' }),
  timestamp,
})

const SmsInbound = z.object({
  type: z.literal('sms_inbound'),
  messageId,
  from: z.string().meta({ example: '+15555550199' }),
  to: z.string().meta({ example: '+15555550100' }),
  body: z.string(),
  rcMessageId: z.string(),
  tenantId,
  timestamp,
  receivingExtensionId: z.string().optional(),
})

const SmsDelivery = z.object({
  type: z.literal('sms_delivery'),
  messageId,
  appId: z.string().meta({ example: 'app_00c0ffee00000001' }),
  tenantId,
  rcMessageId: z.string(),
  deliveryStatus: z.enum(DELIVERY_CONCLUSIONS),
  errorCode: z.string().optional().meta({ description: "The provider's code, of an undelivered message" }),
  reason: z.string().optional().meta({ description: 'Only with deliveryStatus undelivered' }),
  timestamp,
})

const OptOut = z.object({
  type: z.literal('opt_out'),
  tenantId,
  number: z.string().meta({ example: '+15555550100' }),
  contact: z.string().meta({ example: '+15555550199' }),
  optedOut: z.boolean(),
  source: z.enum(OPT_OUT_SOURCES),
  timestamp,
})

export const EventsAnswer = z.object({
  events: z.array(z.union([SmsStatus, SmsInbound, SmsDelivery, OptOut])).meta({ description: 'Oldest first' }),
  cursor: z.string().meta({
    description: 'Opaque, at most 64 characters: the `after` of the next request',
    example: 'Cd0mLk2yY3uBv5rXq1ZsT8wPfHjNaG4eR6iOtKxMvQbSzUyWlDpFgC7hEn',
  }),
  gap: z.boolean().meta({ description: 'Whether events after the cursor `after` may be gone', example: false }),
})
