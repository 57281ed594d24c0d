import { isoTime } from '../core/clock.ts'
import { extensionUri, type ApiCall } from './api-call.ts'
import { canSendSms, mayRead } from './directory.ts'
import { invalidParameter, notFound } from './errors.ts'
import type { Reply } from './http.ts'
import { jsonOfMessages, storeRecord } from './message-record.ts'
import { conversationOf, type Message } from './messages.ts'
import { pageOf, readPage } from './paging.ts'
import type { World } from './world.ts'

/**
 * `GET …/message-store` (RingCentral API reference, "List messages"): newest first, the last 24 hours by default, and of call
 * queues only on request (`owner`).
 */
export function listMessages(api: ApiCall): Reply {
  const { world, call, extension } = api
  const stores = storesOf(api)
  if ('status' in stores) return stores
  const filter = readFilter(call.query, world.clock.now())
  if ('status' in filter) return filter
  const page = readPage(call.query, `${extensionUri(world, extension)}/message-store`, echo(call.query, filter))
  if ('status' in page) return page
  const indexedBefore = world.clock.now() - world.settings.indexDelayMs
  const found = messagesOf(world, stores)
    .filter((message) => !message.isThreaded && message.createdAt <= indexedBefore && fits(message, filter))
    .toReversed()
  const listed = filter.distinct ? newestOfEach(found) : found
  return jsonOfMessages(pageOf(listed, page, (message) => storeRecord(world, message, extension)))
}

/** `GET …/message-store/{messageId}` (same reference, "Get message"). */
export function getMessage(api: ApiCall): Reply {
  const message = findMessage(api, api.ids[0])
  return message === null ? notFound('messageId') : jsonOfMessages(storeRecord(api.world, message, api.extension))
}

/** A message that the user may read. */
export function findMessage({ world, extension }: ApiCall, messageId: string | undefined): Message | null {
  const message = world.messages.find(Number(messageId))
  return message?.isThreaded === false && mayRead(extension, message.extensionId) ? message : null
}

/** The stores that `owner` and `ownerExtensionType` name. */
function storesOf({ world, call, extension }: ApiCall): number[] | Reply {
  const asked = call.query.getAll('owner')
  if (asked.length > 0 && world.settings.sharedOwner === 'refused') return invalidParameter('owner')
  if (asked.some((owner) => !/^(Any|Personal|Shared|\d+)$/.test(owner))) return invalidParameter('owner')
  const owners = asked.length === 0 || world.settings.sharedOwner === 'ignored' ? ['Personal'] : asked
  const queues = new Set(extension.numbers.filter(canSendSms).map(({ ownerId }) => ownerId))
  const types = call.query.getAll('ownerExtensionType')
  return [...queues.add(extension.id)].filter((id) => {
    const kind = id === extension.id ? 'Personal' : 'Shared'
    const type = world.directory.extension(id)?.type ?? ''
    return owners.some((owner) => [kind, 'Any', String(id)].includes(owner)) && allows(types, type)
  })
}

/** Oldest first. */
function messagesOf(world: World, stores: number[]): readonly Message[] {
  if (stores.length === 1) return world.messages.of(stores[0] ?? 0)
  return stores.flatMap((id) => world.messages.of(id)).toSorted((one, other) => one.id - other.id)
}

/** The first of each conversation. */
function newestOfEach(messages: Message[]): Message[] {
  const seen = new Set<string>()
  return messages.filter((message) => {
    const conversation = conversationOf(message)
    return !seen.has(conversation) && seen.add(conversation)
  })
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
  distinct: boolean
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
    distinct: query.get('distinctConversations') === 'true',
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
