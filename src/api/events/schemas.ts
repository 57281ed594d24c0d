import { z } from 'zod'
import { Event, OptOut, SmsDelivery, SmsInbound, SmsStatus, TriggerInbound, WebhookTest } from '../fields/events.ts'
import { DEFAULT_EVENTS, MAX_EVENTS } from '../../core/limits.ts'
import { sizeUpTo, textFilter } from '../http/list-query.ts'

export const EventsQuery = z.object({
  after: textFilter.meta({
    description:
      'A cursor of an earlier response or of the WebSocket. Without it the response has no events, only the current cursor',
    example: 'Cd0mLk2yY3uBv5rXq1ZsT8wPfHjNaG4eR6iOtKxMvQbSzUyWlDpFgC7hEn',
  }),
  limit: sizeUpTo(MAX_EVENTS, DEFAULT_EVENTS),
})

export const EventsAnswer = z
  .object({
    events: z.array(Event).meta({ description: 'Oldest first' }),
    cursor: z.string().meta({
      description: 'Opaque, at most 64 characters: the `after` of the next request',
      example: 'Cd0mLk2yY3uBv5rXq1ZsT8wPfHjNaG4eR6iOtKxMvQbSzUyWlDpFgC7hEn',
    }),
    gap: z.boolean().meta({ description: 'Whether events after the cursor `after` may be gone', example: false }),
  })
  .meta({ id: 'EventPage' })

/** What the gateway posts to apps and triggers. */
export const POSTED_EVENTS = [
  {
    name: 'smsInbound',
    summary: 'An inbound SMS, to an app',
    description: 'Posted to every app of the tenant that has a `webhookUrl` and has not left it out of its events.',
    body: SmsInbound,
  },
  {
    name: 'triggerInbound',
    summary: 'An inbound SMS, to a trigger',
    description: "Posted to the `callbackUrl` of every trigger of the tenant, signed with the trigger's own secret.",
    body: TriggerInbound,
  },
  {
    name: 'smsStatus',
    summary: 'A message of the app was sent or failed',
    description: 'Posted to the app that sent the message, if its events have `sms_status`.',
    body: SmsStatus,
  },
  {
    name: 'smsDelivery',
    summary: 'What became of a message after it was sent',
    description: 'Posted to the app that sent the message, if its events have `sms_delivery`.',
    body: SmsDelivery,
  },
  {
    name: 'optOut',
    summary: 'A contact opted out, or in again',
    description: 'Posted to every app whose events have `opt_out`, unless an app made the change.',
    body: OptOut,
  },
  {
    name: 'test',
    summary: 'A test',
    description: 'Posted by `POST /v1/apps/{appId}/test-webhook`.',
    body: WebhookTest,
  },
]
