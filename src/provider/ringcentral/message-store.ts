import { z } from 'zod'
import type { MessageQuery, UnreadableRecord, ProviderResult, StoredSms } from '../provider.ts'
import { mediaTypesOf, readAttachments } from './attachment-records.ts'
import { EXTENSION_PATH } from './extension.ts'
import { byTheirClock } from './lag.ts'
import { listAll } from './pages.ts'
import { numberOf, partySchema, recipientOf, recipientsSchema } from './party.ts'
import type { Requester } from './request.ts'
import { MAX_MESSAGE_TEXT_LENGTH, optionalText, storableText, wireId, wireTime } from './wire-text.ts'

/**
 * `GET …/message-store`. Lists the extension's own messages unless `owner` is given. The filter `phoneNumber` is not used, because it is not
 * documented which side of a message it matches.
 */
export async function listMessages(
  requester: Requester,
  accessToken: string,
  query: MessageQuery,
): Promise<ProviderResult<StoredSms[]>> {
  const listed = await byTheirClock(requester.lag, (lagMs) => listBetween(requester, accessToken, query, lagMs))
  if (!listed.ok) return listed
  const records = listed.value.filter((record) => isReadable(record, query))
  const wanted = records.filter((record) => record.type === 'SMS' && record.sms.direction === query.direction)
  return { ok: true, value: oldestFirst(wanted.map((record) => record.sms)) }
}

function isReadable(record: ReadRecord | { unreadable: UnreadableRecord }, query: MessageQuery): record is ReadRecord {
  if ('unreadable' in record) query.skipped?.(record.unreadable)
  return !('unreadable' in record)
}

/** `lagMs`: how far the provider's clock is behind this machine's. */
function listBetween(requester: Requester, accessToken: string, wanted: MessageQuery, lagMs: number) {
  const { direction, since, until, ofEveryOwner = false } = wanted
  const theirs = (time: number): string => new Date(time - lagMs).toISOString()
  const dateTo = until === undefined ? {} : { dateTo: theirs(until) }
  const query = {
    messageType: 'SMS',
    direction,
    dateFrom: theirs(since),
    ...dateTo,
    ...(ofEveryOwner ? { owner: 'Any' } : {}),
  }
  const schema: z.ZodType<ReadRecord | { unreadable: UnreadableRecord }> =
    wanted.skipped === undefined ? recordSchema : anyRecord
  return listAll(requester, accessToken, { path: `${EXTENSION_PATH}/message-store`, query }, schema)
}

/**
 * Removes duplicates: a message that arrives between two pages shifts the others, so that a record may be on both pages. The provider lists
 * the newest message first, even among messages of the same second.
 */
export function oldestFirst(messages: StoredSms[]): StoredSms[] {
  const byId = new Map(messages.map((message) => [message.providerMessageId, message]))
  return [...byId.values()].toReversed().toSorted((a, b) => a.createdAt - b.createdAt)
}

/** Tenants see it, so anything that does not look like a code counts as none. */
const errorCode = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/)
  .nullable()
  .catch(null)

/** `GetMessageInfoResponse`. `conversationId` is never read, because it is a number that a double cannot hold. */
const wireRecord = z.looseObject({
  id: wireId,
  type: z.string().catch('SMS'),
  direction: z.enum(['Inbound', 'Outbound']),
  from: partySchema,
  to: recipientsSchema,
  subject: optionalText,
  messageStatus: z.string().catch(''),
  deliveryErrorCode: errorCode,
  creationTime: wireTime,
})

const recordSchema = wireRecord.transform((record): ReadRecord => ({ type: record.type, sms: stored(record) }))

/** Reads a record that {@link recordSchema} refuses: its id, if it has one, and the wrong member. */
const anyRecord = z.unknown().transform((value): ReadRecord | { unreadable: UnreadableRecord } => {
  const read = recordSchema.safeParse(value)
  if (read.success) return read.data
  const { id } = z.object({ id: wireId }).safeParse(value).data ?? {}
  return { unreadable: { providerMessageId: id ?? null, member: String(read.error.issues[0]?.path[0] ?? 'record') } }
})

interface ReadRecord {
  type: string
  sms: StoredSms
}

function stored(record: z.infer<typeof wireRecord>): StoredSms {
  return {
    providerMessageId: record.id,
    direction: record.direction,
    from: numberOf(record.from) ?? null,
    to: record.to.map(recipientOf),
    text: storedText(record.direction, record.subject ?? ''),
    messageStatus: record.messageStatus,
    deliveryErrorCode: record.deliveryErrorCode,
    createdAt: record.creationTime,
    mediaTypes: mediaTypesOf(record['attachments']),
    attachments: readAttachments(record['attachments']),
  }
}

/** Outbound texts stay unchanged, because they are compared with the texts that were sent. */
const storedText = (direction: StoredSms['direction'], subject: string): string =>
  direction === 'Outbound' ? subject : storableText(subject, MAX_MESSAGE_TEXT_LENGTH)
