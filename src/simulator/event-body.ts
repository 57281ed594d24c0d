import { isoTime } from '../core/clock.ts'
import type { Extension } from './directory.ts'
import { attachmentsOf, located, messageUri, ownerOf } from './message-record.ts'
import { conversationOf, type Message } from './messages.ts'
import type { World } from './world.ts'

/** `current`: today's payload. `old`: as in samples of 2012–2018, with `~`, a GUID, `conversationId` and numeric ids. */
export type EventForm = 'current' | 'old'

/** Body of an instant SMS event (RingCentral developer guide, "Message events"): the complete message, ids as strings. */
export function instantBody(
  world: World,
  message: Message,
  reader: Extension,
  form: EventForm,
): Record<string, unknown> {
  const id = form === 'old' ? (value: number) => value : String
  const createdAt = isoTime(message.createdAt)
  return {
    id: id(message.id),
    to: message.to.map((party) => located(world, message, party)),
    from: { ...located(world, message, message.from), ...numberInfo(message.from.phoneNumber) },
    type: 'SMS',
    creationTime: createdAt,
    lastModifiedTime: createdAt,
    readStatus: 'Unread',
    priority: 'Normal',
    attachments: eventAttachments(message, messageUri(world, message, reader), id),
    direction: message.direction,
    availability: 'Alive',
    ...(message.text === null ? {} : { subject: message.text }),
    messageStatus: world.messages.state(message).messageStatus,
    ...conversationIn(form, conversationOf(message)),
    eventType: 'Create',
    owner: ownerOf(world, message),
  }
}

/** Body of a message-store change (same guide): counters only, ids as numbers. */
export function changeBody(
  message: Message,
  reader: Extension,
  kind: 'new' | 'updated',
  now: number,
): Record<string, unknown> {
  const created = kind === 'new'
  const change = { type: 'SMS', newCount: created ? 1 : 0, updatedCount: created ? 0 : 1 }
  return {
    accountId: reader.accountId,
    extensionId: reader.id,
    lastUpdated: isoTime(now),
    changes: [{ ...change, ...(created ? { newMessageIds: [message.id] } : {}) }],
  }
}

/** As in a record, but the text has no address. */
const eventAttachments = (message: Message, messageAddress: string, idOf: (value: number) => unknown): object[] =>
  attachmentsOf(message, messageAddress).map(({ id, type, uri, ...more }) => ({
    id: idOf(Number(id)),
    type,
    ...(type === 'Text' ? {} : { uri }),
    ...more,
  }))

const conversationIn = (form: EventForm, id: string): Record<string, unknown> =>
  form === 'old' ? { conversationId: id } : { conversation: { id } }

function numberInfo(phoneNumber: string | undefined): Record<string, unknown> {
  const match = /^\+1(\d{3})(\d{7})$/.exec(phoneNumber ?? '')
  if (match === null) return {}
  return {
    phoneNumberInfo: { countryCode: '1', nationalDestinationCode: match[1], subscriberNumber: match[2] },
  }
}
