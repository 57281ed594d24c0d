import { isoTime } from '../core/clock.ts'
import { extensionUri, type ApiCall } from './api-call.ts'
import { invalidParameter, notFound } from './errors.ts'
import type { Reply } from './http.ts'
import { jsonOfMessages, storeRecord } from './message-record.ts'
import { conversationOf, type Message } from './messages.ts'
import { pageOf, readPage } from './paging.ts'

/** `GET …/message-store` (RingCentral API reference, "List messages"): newest first, the last 24 hours by default. */
export function listMessages({ world, call, extension }: ApiCall): Reply {
  const filter = readFilter(call.query, world.clock.now())
  if ('status' in filter) return filter
  const page = readPage(call.query, `${extensionUri(world, extension)}/message-store`, echo(call.query, filter))
  if ('status' in page) return page
  const indexedBefore = world.clock.now() - world.settings.indexDelayMs
  const found = world.messages
    .of(extension.id)
    .filter((message) => message.createdAt <= indexedBefore && fits(message, filter))
    .toReversed()
  return jsonOfMessages(pageOf(found, page, (message) => storeRecord(world, message)))
}

/** `GET …/message-store/{messageId}` (same reference, "Get message"). */
export function getMessage({ world, extension, ids }: ApiCall): Reply {
  const message = world.messages.find(Number(ids[0]))
  if (message === undefined || message.extensionId !== extension.id) return notFound('messageId')
  return jsonOfMessages(storeRecord(world, message))
}

/** `GET …/message-store/{messageId}/content/{attachmentId}` (same reference, "Get message attachment"): its bytes. */
export function getContent({ world, extension, ids: [messageId, attachmentId] }: ApiCall): Reply {
  const message = world.messages.find(Number(messageId))
  if (message === undefined || message.extensionId !== extension.id) return notFound('messageId')
  if (attachmentId === messageId && message.text !== null)
    return { status: 200, headers: { 'Content-Type': 'text/plain;charset=utf-8' }, body: message.text }
  const attachment = message.attachments.find(({ id }) => String(id) === attachmentId)
  if (attachment === undefined) return notFound('attachmentId')
  return { status: 200, headers: { 'Content-Type': attachment.contentType }, body: '', bytes: attachment.bytes }
}

interface Filter {
  messageTypes: string[]
  directions: string[]
  readStatuses: string[]
  availabilities: string[]
  from: number
  to: number
  phoneNumber: string | null
  conversationId: string | null
}

const DAY_MS = 86_400_000

const CHOICES = {
  messageType: ['SMS', 'Fax', 'VoiceMail', 'Pager'],
  direction: ['Inbound', 'Outbound'],
  readStatus: ['Read', 'Unread'],
  availability: ['Alive', 'Deleted', 'Purged'],
}

function readFilter(query: URLSearchParams, now: number): Filter | Reply {
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (query.getAll(name).some((value) => !allowed.includes(value))) return invalidParameter(name)
  }
  const to = query.has('dateTo') ? Date.parse(query.get('dateTo') ?? '') : now
  if (Number.isNaN(to)) return invalidParameter('dateTo')
  const from = query.has('dateFrom') ? Date.parse(query.get('dateFrom') ?? '') : to - DAY_MS
  if (Number.isNaN(from)) return invalidParameter('dateFrom')
  return {
    messageTypes: query.getAll('messageType'),
    directions: query.getAll('direction'),
    readStatuses: query.getAll('readStatus'),
    availabilities: query.getAll('availability'),
    from,
    to,
    phoneNumber: query.get('phoneNumber'),
    conversationId: query.get('conversationId'),
  }
}

/** The store holds only SMS that are not deleted, so other lists are empty. `phoneNumber` matches either side. */
function fits(message: Message, filter: Filter): boolean {
  if (message.createdAt < filter.from || message.createdAt > filter.to) return false
  const read = message.direction === 'Outbound' ? 'Read' : 'Unread'
  const choices =
    allows(filter.messageTypes, 'SMS') &&
    allows(filter.availabilities, 'Alive') &&
    allows(filter.directions, message.direction) &&
    allows(filter.readStatuses, read)
  if (!choices) return false
  if (filter.conversationId !== null && filter.conversationId !== conversationOf(message)) return false
  if (filter.phoneNumber === null) return true
  return [message.from, ...message.to].some((party) => party.phoneNumber === filter.phoneNumber)
}

const allows = (wanted: string[], value: string): boolean => wanted.length === 0 || wanted.includes(value)

function echo(query: URLSearchParams, filter: Filter): URLSearchParams {
  const echoed = new URLSearchParams(query)
  echoed.set('availability', filter.availabilities[0] ?? 'Alive')
  echoed.set('dateFrom', isoTime(filter.from))
  return echoed
}
