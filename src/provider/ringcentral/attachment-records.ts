import { z } from 'zod'
import type { Attachment } from '../provider.ts'
import { optionalText, storableText, wireId } from './wire-text.ts'

/** Most messages have none, so all of them share one empty array. */
const NONE: readonly Attachment[] = []

/**
 * The attachments in a message record or an event (RingCentral OpenAPI, `MessageAttachmentInfo`), without the text itself. Members that cannot
 * be read count as absent. An attachment without an id is omitted, because nobody could refer to it.
 */
export function readAttachments(value: unknown): readonly Attachment[] {
  if (!hasMedia(value)) return NONE
  return value.filter(isMedia).slice(0, MAX_ATTACHMENTS).flatMap(read)
}

/** An MMS has ten at most. */
const MAX_ATTACHMENTS = 20
const MAX_FILE_NAME_LENGTH = 255
const MAX_URI_LENGTH = 2000

const NO_TYPES: readonly null[] = []

/** The types of a record's attachments besides its text; null for a type that cannot be read. */
export const mediaTypesOf = (value: unknown): readonly (string | null)[] =>
  hasMedia(value) ? value.filter(isMedia).map(({ contentType }) => mediaTypeOf(textOf(contentType))) : NO_TYPES

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const hasMedia = (value: unknown): value is unknown[] => Array.isArray(value) && value.some(isMedia)

/** The text itself is the attachment `Text`. Plain text without a type counts as the text. */
function isMedia(value: unknown): value is { contentType?: unknown } {
  if (typeof value !== 'object' || value === null) return false
  const { type, contentType } = value as { type?: unknown; contentType?: unknown }
  return type === undefined ? !/^text\/plain\b/i.test(String(contentType)) : type !== 'Text'
}

const wireAttachment = z.object({
  id: wireId.refine((id) => /^[\w.~-]+$/.test(id)),
  contentType: optionalText,
  size: z.int().min(0).optional().catch(undefined),
  fileName: optionalText,
  uri: optionalText,
})

function read(value: unknown): Attachment[] {
  const attachment = wireAttachment.safeParse(value).data
  if (attachment === undefined) return []
  const { id, contentType, size, fileName, uri = '' } = attachment
  return [
    {
      attachmentId: id,
      contentType: mediaTypeOf(contentType) ?? 'application/octet-stream',
      size: size ?? null,
      fileName: fileName === undefined ? null : storableText(fileName, MAX_FILE_NAME_LENGTH),
      uri: uri !== '' && uri.length <= MAX_URI_LENGTH && uri.isWellFormed() ? uri : null,
    },
  ]
}

/** `type/subtype` of a Content-Type, in lower case; null if it is invalid. */
export const mediaTypeOf = (text: string | null | undefined): string | null =>
  /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:;|$)/.exec(text ?? '')?.[1]?.toLowerCase() ?? null
