import { z } from 'zod'
import type { InboundEvent, InboundEventSms } from '../provider.ts'
import { readAttachments } from './attachment-records.ts'
import { numberOf, partySchema, recipientOf, recipientsSchema } from './party.ts'
import { MAX_MESSAGE_TEXT_LENGTH, optionalText, storableText, wireId, wireTime } from './wire-text.ts'

/**
 * Reads the body of a webhook request: the instant-message event, which contains the complete SMS (RingCentral guide, "Instant SMS event", and
 * the OpenAPI's `InstantMessageEvent`, which differ in whether ids are numbers or strings). Optional members may be missing or malformed, so
 * that no message is lost because of them. Never throws, because RingCentral blacklists a subscription after an answer of 500.
 */
export function parseInboundEvent(body: unknown): InboundEvent {
  try {
    return parse(body)
  } catch {
    return { kind: 'ignored', subscriptionId: null, why: 'the event is unreadable' }
  }
}

function parse(body: unknown): InboundEvent {
  const envelope = envelopeSchema.safeParse(body).data
  if (!envelope) return { kind: 'ignored', subscriptionId: null, why: 'the event is not an object' }
  const subscriptionId = envelope.subscriptionId ?? null
  const ignored = (why: string): InboundEvent => ({ kind: 'ignored', subscriptionId, why })

  const event = envelope.event ?? ''
  if (!isInstantSms(event)) {
    const kind = changedIn(event)
    if (kind === null) return ignored('the event is not an instant SMS')
    return { kind, subscriptionId, ownerId: envelope.ownerId ?? null }
  }
  const ownerId = envelope.ownerId ?? extensionOf(event)
  const message = messageSchema.safeParse(envelope.body).data
  if (!message) return ignored('the event carries no readable message')
  const unwanted = reasonToSkip(message)
  if (unwanted) return ignored(unwanted)
  return { kind: 'sms', subscriptionId, ownerId, sms: smsOf(message) }
}

/** Matches the end of the event's path: the ids before it are real ones or `~`, and parameters may be added or reordered. */
function isInstantSms(event: string): boolean {
  // A pattern that ends in `(.*)$` takes quadratic time for an event that repeats the path and has a line break.
  const query = /\/message-store\/instant\?(.*)/s.exec(event)?.[1]
  if (query === undefined) return false
  // The first test is ten times faster and matches the common form. A single pattern for all forms can take half a second for a
  // hostile event.
  return query.split('&').includes('type=SMS') || new URLSearchParams(query).getAll('type').includes('SMS')
}

/** What has changed, of which the event says no more. */
function changedIn(event: string): 'threads' | 'consents' | null {
  if (event.endsWith('/message-threads/entries/sync')) return 'threads'
  return event.endsWith('/sms/consents') ? 'consents' : null
}

const extensionOf = (event: string): string | null => /\/extension\/(\d{1,32})\//.exec(event)?.[1] ?? null

type Message = z.infer<typeof messageSchema>

const envelopeSchema = z.object({
  event: optionalText,
  subscriptionId: wireId.optional().catch(undefined),
  ownerId: wireId.optional().catch(undefined),
  body: z.unknown().optional(),
})

const messageSchema = z.object({
  id: wireId,
  direction: z.unknown().optional(),
  type: z.unknown().optional(),
  eventType: z.unknown().optional(),
  from: partySchema,
  to: recipientsSchema,
  subject: optionalText,
  creationTime: wireTime.optional().catch(undefined),
  attachments: z.unknown().optional(),
})

function reasonToSkip(message: Message): string | null {
  if (message.direction !== 'Inbound') return 'the message is not inbound'
  if (message.type !== 'SMS') return 'the message is not an SMS'
  const eventType = message.eventType ?? 'Create'
  return eventType === 'Create' ? null : 'the event is not about a new message'
}

const smsOf = (message: Message): InboundEventSms => ({
  providerMessageId: message.id,
  from: numberOf(message.from) ?? null,
  to: message.to.map(recipientOf),
  text: storableText(message.subject ?? '', MAX_MESSAGE_TEXT_LENGTH),
  createdAt: message.creationTime ?? null,
  attachments: readAttachments(message.attachments),
})
