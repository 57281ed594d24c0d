import { z } from 'zod'
import type { StoredSms, UnreadableRecord } from '../provider.ts'
import { readAttachments } from './attachment-records.ts'
import type { Numbers } from './thread-numbers.ts'
import { MAX_MESSAGE_TEXT_LENGTH, optionalText, storableText, wireId, wireTime } from './wire-text.ts'

/** `ThreadMessageModel`. */
const entrySchema = z.object({
  id: wireId,
  threadId: wireId,
  direction: z.enum(['Inbound', 'Outbound']),
  creationTime: wireTime,
  text: optionalText,
  messageStatus: z.string().catch(''),
  attachments: z.unknown().optional(),
})
export type Entry = z.infer<typeof entrySchema>
export type AnyEntry = Entry | { unreadable: UnreadableRecord }

/** Reads an entry that {@link entrySchema} refuses: its id, if it has one, and the wrong member. */
export const anyEntry = z.unknown().transform((value): AnyEntry => {
  const read = entrySchema.safeParse(value)
  if (read.success) return read.data
  const { id } = z.object({ id: wireId }).safeParse(value).data ?? {}
  const member = String(read.error.issues[0]?.path[0] ?? 'record')
  return { unreadable: { providerMessageId: id ?? null, member } }
})

/** A sync also lists notes, deletions and hints. */
const isMessage = (value: unknown): boolean => messageSchema.safeParse(value).success
const messageSchema = z.looseObject({ recordType: z.literal('AliveMessage') })

const MAX_TOKEN_LENGTH = 4096

/** `ThreadEntriesSyncList`, of which only messages are read. */
export const syncSchema = z.looseObject({
  records: z
    .array(z.unknown())
    .transform((records) => records.filter(isMessage))
    .pipe(z.array(anyEntry)),
  syncInfo: z.looseObject({ syncToken: z.string().min(1).max(MAX_TOKEN_LENGTH) }),
})

/** An id that does not have the form of a message id is marked, so that it cannot be mistaken for another message's. */
export const idOf = ({ id }: Entry): string => (/^\d{1,20}$/.test(id) ? id : `thread:${id}`)

export const smsOf = (entry: Entry, { number, contact }: Numbers): StoredSms => ({
  providerMessageId: idOf(entry),
  direction: entry.direction,
  from: contact,
  to: [{ phoneNumber: number, target: true }],
  text: storableText(entry.text ?? '', MAX_MESSAGE_TEXT_LENGTH),
  messageStatus: entry.messageStatus,
  deliveryErrorCode: null,
  createdAt: entry.creationTime,
  mediaTypes: [],
  attachments: readAttachments(asStored(entry.attachments)),
})

/** `MessageAttachmentResponseEntry`, with the names that attachments have in the message store. */
function asStored(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map((one: unknown) => {
    const { id, contentType, size, filename, contentUri } = attachmentSchema.safeParse(one).data ?? {}
    return { id, contentType, size, type: 'MmsAttachment', fileName: filename, uri: contentUri }
  })
}

const attachmentSchema = z.looseObject({
  id: z.unknown().optional(),
  contentType: z.unknown().optional(),
  size: z.unknown().optional(),
  filename: z.unknown().optional(),
  contentUri: z.unknown().optional(),
})
