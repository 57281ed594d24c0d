import { z } from 'zod'
import { messageId, time as at } from '../fields/answer-fields.ts'
import { DeliveryStatus } from '../fields/delivery-status.ts'
import { DeliveryOutcome, MessageStatus } from '../fields/named-enums.ts'
import { MAX_LISTED } from '../../core/limits.ts'
import { ATTEMPT_OUTCOMES } from '../../db/schema/messages.ts'
import { ShownWaiting } from '../fields/waiting.ts'

export const attachmentCount = z.int().meta({ description: 'How many pictures or other files the message carries' })

/** A step of a message. */
export const TimelineEntry = z
  .discriminatedUnion('type', [
    z.object({ at, type: z.literal('queued'), attachments: attachmentCount.optional() }).meta({ id: 'TimelineQueued' }),
    z.object({ at, type: z.literal('scheduled'), sendAt: at }).meta({ id: 'TimelineScheduled' }),
    z
      .object({
        at: at.meta({ description: 'When the call began' }),
        type: z.literal('attempt'),
        number: z.int(),
        outcome: z.enum(ATTEMPT_OUTCOMES).meta({
          description:
            'Also `unknown` while the call is open. An unknown outcome stays `unknown` after the provider was asked',
        }),
        httpStatus: z.int().optional(),
        errorCode: z.string().optional().meta({ description: "The provider's code, or the connection's error" }),
        durationMs: z.int().nullable().meta({
          description:
            'How many milliseconds the call took; null while it is open, and if the gateway ended before its end',
        }),
        heldBy: z.literal('provider_paused').optional().meta({
          description:
            "Of the first call: the provider had paused the extension, because of another message's 429, and held this message until then",
        }),
        message: z.string().max(200).optional().meta({ description: "The provider's words about a failure" }),
      })
      .meta({ id: 'TimelineAttempt' }),
    z.object({ at, type: z.literal('sent'), rcMessageId: z.string().nullable() }).meta({ id: 'TimelineSent' }),
    z.object({ at, type: z.literal('failed'), error: z.string().nullable() }).meta({ id: 'TimelineFailed' }),
    z.object({ at, type: z.literal('delivered') }).meta({ id: 'TimelineDelivered' }),
    z
      .object({ at, type: z.literal('undelivered'), errorCode: z.string().optional(), reason: z.string() })
      .meta({ id: 'TimelineUndelivered' }),
    z.object({ at, type: z.literal('received'), attachments: attachmentCount }).meta({ id: 'TimelineReceived' }),
    z
      .object({
        at,
        type: z.literal('webhook'),
        deliveryId: z.string(),
        attemptNumber: z.int(),
        outcome: DeliveryOutcome,
      })
      .meta({ id: 'TimelineWebhook' }),
  ])
  .meta({ id: 'TimelineEntry' })
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const Timeline = z
  .object({
    messageId,
    status: MessageStatus,
    deliveryStatus: DeliveryStatus,
    waiting: ShownWaiting,
    entries: z.array(TimelineEntry).meta({
      description: `Oldest first. Attempts older than 7 days may be gone. Of webhooks the newest ${MAX_LISTED}.`,
    }),
  })
  .meta({
    id: 'SmsTimeline',
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
