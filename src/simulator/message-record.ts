import { isoTime } from '../core/clock.ts'
import type { NumberForm } from '../core/provider-settings.ts'
import { extensionUri } from './api-call.ts'
import type { Extension } from './directory.ts'
import { json, type Reply } from './http.ts'
import { conversationOf, type Attachment, type Message, type Party } from './messages.ts'
import type { World } from './world.ts'

/** Where every number is. */
export const LOCATION = 'Mountain View, CA'

/**
 * An answer with message records. `conversationId` is a number beyond JavaScript's range, so it is serialized as a string
 * and its quotes are removed afterward. This is five times as fast as `JSON.rawJSON`. Message texts cannot match, because
 * their quotes are escaped.
 */
export function jsonOfMessages(value: unknown): Reply {
  const reply = json(200, value)
  return { ...reply, body: reply.body.replace(/"conversationId":"(\d+)"/g, '"conversationId":$1') }
}

/**
 * The answer of `POST …/sms` (RingCentral API reference, "Create message", `GetSMSMessageInfoResponse`), for the user who
 * reads it; by default as the message is now.
 */
export function messageRecord(
  world: World,
  message: Message,
  reader: Extension,
  state = world.messages.state(message),
): Record<string, unknown> {
  const uri = messageUri(world, message, reader)
  const outbound = message.direction === 'Outbound'
  const conversationId = conversationOf(message)
  return {
    uri,
    id: message.id,
    to: message.to.map((party) => located(world, message, party)),
    from: located(world, message, message.from),
    type: 'SMS',
    creationTime: isoTime(message.createdAt),
    readStatus: outbound ? 'Read' : 'Unread',
    priority: 'Normal',
    attachments: attachmentsOf(message, uri),
    direction: message.direction,
    availability: 'Alive',
    ...(message.text === null ? {} : { subject: message.text }),
    messageStatus: state.messageStatus,
    ...(state.deliveryErrorCode === null ? {} : { deliveryErrorCode: state.deliveryErrorCode }),
    ...(outbound ? { smsSendingAttemptsCount: 1 } : {}),
    conversationId,
    conversation: { id: conversationId, uri: `${world.url}/restapi/v1.0/conversation/${conversationId}` },
    lastModifiedTime: isoTime(state.changedAt),
    ...(state.messageStatus === 'Delivered' ? { smsDeliveryTime: isoTime(state.changedAt) } : {}),
    ...(message.extensionId === reader.id ? {} : { owner: ownerOf(world, message) }),
  }
}

/** A record of the message store: a message record with its extension and the number of its text segments. */
export function storeRecord(world: World, message: Message, reader: Extension): Record<string, unknown> {
  const { uri, id, ...rest } = messageRecord(world, message, reader)
  const segmentCount = Math.max(1, Math.ceil((message.text ?? '').length / 160))
  return { uri, id, extensionId: String(reader.id), ...rest, segmentCount }
}

/** The owner of the message, as in the guide's "Migration Guide" of message threads. */
export function ownerOf(world: World, message: Message): Record<string, unknown> {
  const owner = world.directory.extension(message.extensionId)
  return { extensionId: String(message.extensionId), extensionType: owner?.type ?? 'User', name: owner?.name ?? '' }
}

export function located(world: World, message: Message, party: Party): Record<string, unknown> {
  if (party.phoneNumber === undefined) return { ...party }
  const phoneNumber = writtenNumber(party.phoneNumber, message.id, world.settings.numberForms)
  return { ...party, phoneNumber, location: LOCATION }
}

/** A message of a call queue has an address for each of its readers. */
export const messageUri = (world: World, message: Message, reader: Extension): string =>
  `${extensionUri(world, reader)}/message-store/${message.id}`

/** The text is the first one. */
export function attachmentsOf(message: Message, uri: string): Record<string, unknown>[] {
  const text = { id: message.id, uri: `${uri}/content/${message.id}`, type: 'Text', contentType: 'text/plain' }
  return [...(message.text === null ? [] : [text]), ...message.attachments.map((one) => mediaAttachment(one, uri))]
}

const mediaAttachment = (attachment: Attachment, uri: string): Record<string, unknown> => ({
  id: attachment.id,
  uri: attachment.uri ?? `${uri}/content/${attachment.id}`,
  type: 'MmsAttachment',
  contentType: attachment.contentType,
  size: attachment.size,
  ...(attachment.fileName === null ? {} : { fileName: attachment.fileName }),
})

/** Writes an E.164 number in the forms that records have, which take turns. `turn` is the same for all numbers of a message. */
function writtenNumber(number: string, turn: number, forms: readonly NumberForm[]): string {
  const form = forms[turn % forms.length]
  if (form === 'digits') return number.replace(/^\+/, '')
  return form === 'american' ? number.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '($1)$2-$3') : number
}
