import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { HOUR_MS, MAX_LOOKUP_MS } from '../../core/limits.ts'
import type { Direction } from '../../db/schema/messages.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Attachment, MessageQuery } from '../../provider/provider.ts'

/** What reading an attachment needs to know about its message. */
export interface CarryingMessage {
  attachments: readonly Attachment[]
  /** Of an inbound message. */
  extensionId: string | null
  direction: Direction
  from: string
  rcMessageId: string | null
  /** Epoch milliseconds. Of a sent message: when that was known. */
  updatedAt: number
}

/** A lookup may have found the record long after it was made. */
const RECORD_BEFORE_MS = HOUR_MS + MAX_LOOKUP_MS
const RECORD_AFTER_MS = 60_000

/** The same attachment in the provider's record of a sent message, and the extension that may read it. Errors: `noAttachment`. */
export async function sentAttachment(
  { directory, messageListings }: Gateway,
  { tenantId }: Caller,
  { attachments, from, rcMessageId, updatedAt }: CarryingMessage,
  attachment: Attachment,
): Promise<{ extensionId: string; attachment: Attachment }> {
  const extensionId = (await directory.tenant(tenantId)).numbers.get(from)?.extensionId
  if (rcMessageId === null || extensionId === undefined) throw apiError('noAttachment')
  const query: MessageQuery = {
    direction: 'Outbound',
    since: updatedAt - RECORD_BEFORE_MS,
    until: updatedAt + RECORD_AFTER_MS,
    skipped: () => undefined,
  }
  const listed = await messageListings.list({ tenantId, extensionId }, () => query)
  const records = listed.type === 'ok' ? listed.value.records : []
  const record = records.find(({ providerMessageId }) => providerMessageId === rcMessageId)
  const found = sameIn(record?.attachments ?? [], attachments, attachment)
  if (found === undefined) throw apiError('noAttachment')
  return { extensionId, attachment: found }
}

/** By its type and its position among those of the same type; the provider keeps neither the id nor, perhaps, the size. */
function sameIn(
  recorded: readonly Attachment[],
  carried: readonly Attachment[],
  attachment: Attachment,
): Attachment | undefined {
  const isSameType = ({ contentType }: Attachment): boolean => contentType === attachment.contentType
  return recorded.filter(isSameType)[carried.filter(isSameType).indexOf(attachment)]
}
