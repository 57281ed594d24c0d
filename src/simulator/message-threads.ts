import { isoTime } from '../core/clock.ts'
import type { ApiCall, ApiHandler } from './api-call.ts'
import { canSendSms } from './directory.ts'
import { apiError, appNeeds, invalidParameter, notFound } from './errors.ts'
import { json, type Reply } from './http.ts'
import { ranged } from './message-content.ts'
import type { Message } from './messages.ts'
import { pageOf, readPage } from './paging.ts'
import type { Thread, ThreadEntry } from './threads.ts'

/** Wraps a handler of `/account/{accountId}/message-threads…`, for an app that may read threads where the account has them. */
export const ofThreads =
  (handle: ApiHandler): ApiHandler =>
  (api) => {
    const { world, extension } = api
    const [account, ...ids] = api.ids
    if (account !== '~' && account !== String(extension.accountId)) return notFound('accountId')
    if (!world.settings.messageThreads)
      return apiError(403, 'CMN-407', 'Feature [MessageThreads] is not available', { topLevel: 'FeatureNotAvailable' })
    return world.settings.readThreads ? handle({ ...api, ids }) : appNeeds('SMS')
  }

/** A user reads the threads of the numbers that it may text from. */
function mayRead({ extension }: ApiCall, { accountId, number }: Thread): boolean {
  return (
    accountId === extension.accountId && extension.numbers.some((one) => one.phoneNumber === number && canSendSms(one))
  )
}

/** `GET …/message-threads` (RingCentral API reference, "List Message Threads"): oldest first. */
export function listThreads(api: ApiCall): Reply {
  const { world, call } = api
  const times = readTimes(call.query)
  if ('status' in times) return times
  const page = readPage(call.query, '', new URLSearchParams())
  if ('status' in page) return page
  const threads = world.threads.all().filter((one) => mayRead(api, one) && isWithin(one.createdAt, times))
  const { records, paging } = pageOf(threads, page, (thread) => threadRecord(api, thread))
  return json(200, { records, paging })
}

/** `GET …/message-threads/{threadId}` (same reference, "Get Message Thread"). */
export function getThread(api: ApiCall): Reply {
  const thread = api.world.threads.find(api.ids[0] ?? '')
  if (thread === undefined) return notFound('threadId')
  return mayRead(api, thread) ? json(200, threadRecord(api, thread)) : apiError(403, 'CMN-419', 'No access')
}

const DAY_MS = 86_400_000

/** `GET …/message-threads/messages` (same reference, "List Messages"): oldest first, the last 24 hours by default. */
export function listThreadMessages(api: ApiCall): Reply {
  const { world, call } = api
  const times = readTimes(call.query, world.clock.now() - DAY_MS)
  if ('status' in times) return times
  const page = readPage(call.query, '', new URLSearchParams())
  if ('status' in page) return page
  const messages = visible(api, world.threads.entries()).filter(({ message }) => isWithin(message.createdAt, times))
  const { records, paging } = pageOf(messages, page, ({ message, thread }) => messageOf(api, message, thread))
  return json(200, { records, paging })
}

/**
 * `GET …/message-threads/entries/sync` (same reference, "Sync Thread Entries"): newest first. A full one has only the messages of open
 * threads. A token names the position of the next entry.
 */
export function syncEntries(api: ApiCall): Reply {
  const { world, call } = api
  const { threads } = world
  const syncType = call.query.get('syncType') ?? 'FSync'
  const position = syncType === 'ISync' ? positionOf(call.query.get('syncToken')) : 0
  if (position === null || position > threads.entries().length) return invalidParameter('syncToken')
  const entries = indexed(api, threads.entries(position))
  const seen = visible(api, entries).filter((entry) => syncType === 'ISync' || isInFull(api, entry))
  return json(200, {
    records: seen.toReversed().map((entry) => entryRecord(api, entry)),
    syncInfo: { syncType, syncToken: `entries-${position + entries.length}`, syncTime: isoTime(world.clock.now()) },
  })
}

/** `GET …/message-threads/messages/{messageId}/content/{attachmentId}`: the bytes of an attachment. */
export function getThreadContent(api: ApiCall): Reply {
  const [messageId, attachmentId] = api.ids
  const entries = visible(api, api.world.threads.entries())
  const entry = entries.find(({ message }) => String(message.id) === messageId)
  if (entry === undefined) return notFound('messageId')
  const attachment = entry.message.attachments.find(({ id }) => String(id) === attachmentId)
  return attachment?.bytes ? ranged(api.call, attachment.contentType, attachment.bytes) : notFound('attachmentId')
}

function positionOf(token: string | null): number | null {
  const position = /^entries-(\d+)$/.exec(token ?? '')?.[1]
  return position === undefined ? null : Number(position)
}

/** `scope` is `AssignedToMe` by default, and nothing is assigned here. */
const isInFull = ({ call }: ApiCall, { thread }: ThreadEntry): boolean =>
  thread.isOpen && (call.query.get('scope') ?? 'AssignedToMe') !== 'AssignedToMe'

const visible = (api: ApiCall, entries: readonly ThreadEntry[]): readonly ThreadEntry[] =>
  indexed(api, entries).filter(({ thread }) => mayRead(api, thread))

/** New entries are absent for a while, as new messages are from the message store. */
function indexed({ world }: ApiCall, entries: readonly ThreadEntry[]): readonly ThreadEntry[] {
  const before = world.clock.now() - world.settings.indexDelayMs
  const end = entries.findIndex(({ message }) => message.createdAt > before)
  return end === -1 ? entries : entries.slice(0, end)
}

interface Times {
  from: number
  to: number
}

function readTimes(query: URLSearchParams, from = -Infinity): Times | Reply {
  const timeOf = (name: string, otherwise: number): number =>
    query.has(name) ? Date.parse(query.get(name) ?? '') : otherwise
  const times = { from: timeOf('creationTimeFrom', from), to: timeOf('creationTimeTo', Infinity) }
  if (Number.isNaN(times.from)) return invalidParameter('creationTimeFrom')
  return Number.isNaN(times.to) ? invalidParameter('creationTimeTo') : times
}

const isWithin = (at: number, { from, to }: Times): boolean => at >= from && at <= to

function threadRecord({ world }: ApiCall, thread: Thread): Record<string, unknown> {
  const owner = world.directory.extension(thread.ownerId)
  return {
    id: thread.id,
    status: thread.isOpen ? 'Open' : 'Resolved',
    ...(thread.isOpen ? {} : { statusReason: 'Manual' }),
    availability: 'Alive',
    ownerParty: { phoneNumber: thread.number },
    guestParty: { phoneNumber: thread.contact },
    owner: { extensionId: String(thread.ownerId), extensionType: owner?.type ?? 'User', name: owner?.name ?? '' },
    creationTime: isoTime(thread.createdAt),
    lastModifiedTime: isoTime(thread.modifiedAt),
  }
}

const entryRecord = (api: ApiCall, { message, thread }: ThreadEntry): Record<string, unknown> => ({
  recordType: 'AliveMessage',
  ...messageOf(api, message, thread),
})

function messageOf({ world }: ApiCall, message: Message, thread: Thread): Record<string, unknown> {
  const { messageStatus, changedAt } = world.messages.state(message)
  const base = `${world.url}/restapi/v1.0/account/${message.accountId}/message-threads/messages/${message.id}/content`
  const attachments = message.attachments.map(({ id, contentType, size, fileName, uri }) => ({
    id: String(id),
    contentType,
    contentUri: uri ?? `${base}/${id}`,
    size,
    ...(fileName === null ? {} : { filename: fileName }),
  }))
  return {
    id: String(message.id),
    threadId: thread.id,
    availability: 'Alive',
    creationTime: isoTime(message.createdAt),
    lastModifiedTime: isoTime(changedAt),
    direction: message.direction,
    messageStatus,
    ...(message.text === null ? {} : { text: message.text }),
    ...(attachments.length === 0 ? {} : { attachments }),
  }
}
