import { z } from 'zod'
import { MAX_LISTED } from '../../core/limits.ts'
import { ATTEMPT_OUTCOMES, MESSAGE_STATUSES } from '../../db/schema/messages.ts'
import { DELIVERY_OUTCOMES } from '../../db/schema/webhooks.ts'
import { DELIVERY_STATUSES } from '../../tracking/delivery-status.ts'
import { ShownWaiting } from './waiting.ts'

const at = z.string().meta({ format: 'date-time' })

/** A step of a message. */
export const TimelineEntry = z.discriminatedUnion('type', [
  z.object({ at, type: z.literal('queued') }),
  z.object({ at, type: z.literal('scheduled'), sendAt: at }),
  z.object({
    at: at.meta({ description: 'When the call began' }),
    type: z.literal('attempt'),
    number: z.int(),
    outcome: z
      .enum(ATTEMPT_OUTCOMES)
      .meta({ description: 'An unknown outcome stays `unknown` after the provider was asked' }),
    httpStatus: z.int().optional(),
    errorCode: z.string().optional().meta({ description: "The provider's code, or the connection's error" }),
    durationMs: z
      .int()
      .nullable()
      .meta({ description: 'How long the call took; null while it is open, and if the gateway ended before its end' }),
    message: z.string().max(200).optional().meta({ description: "The provider's words about a failure" }),
  }),
  z.object({ at, type: z.literal('sent'), rcMessageId: z.string().nullable() }),
  z.object({ at, type: z.literal('failed'), error: z.string().nullable() }),
  z.object({ at, type: z.literal('delivered') }),
  z.object({ at, type: z.literal('undelivered'), errorCode: z.string().optional(), reason: z.string() }),
  z.object({ at, type: z.literal('received') }),
  z.object({
    at,
    type: z.literal('webhook'),
    deliveryId: z.string(),
    attemptNumber: z.int(),
    outcome: z.enum(DELIVERY_OUTCOMES),
  }),
])
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const DeliveryStatus = z.enum(DELIVERY_STATUSES).nullable().meta({
  description: 'What became of the message after `sent`; null if it was not sent',
})

export const Timeline = z
  .object({
    messageId: z.string(),
    status: z.enum(MESSAGE_STATUSES),
    deliveryStatus: DeliveryStatus,
    waiting: ShownWaiting,
    entries: z.array(TimelineEntry).meta({
      description: `Oldest first. Attempts older than 7 days may be gone. Of webhooks the newest ${MAX_LISTED}.`,
    }),
  })
  .meta({
    example: {
      messageId: 'msg_0123456789ab',
      status: 'sent',
      deliveryStatus: 'undelivered',
      waiting: null,
      entries: [
        { at: '2026-11-21T02:30:00.000Z', type: 'queued' },
        { at: '2026-11-21T02:30:00.004Z', type: 'attempt', number: 1, outcome: 'accepted', durationMs: 208 },
        { at: '2026-11-21T02:30:00.212Z', type: 'sent', rcMessageId: '3062991514016' },
        {
          at: '2026-11-21T02:30:10.480Z',
          type: 'undelivered',
          errorCode: 'SMS-CAR-430',
          reason: 'Refused as spam',
        },
      ],
    },
  })
export type Timeline = z.infer<typeof Timeline>
