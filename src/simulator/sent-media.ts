import { apiError, badParameter } from './errors.ts'
import { mediaTypeOf, type Reply } from './http.ts'
import type { NewAttachment } from './messages.ts'
import { type BodyPart, parameterOf } from './multipart.ts'

/** Reads the files of a message: those behind the JSON part (RingCentral developer guide, "Sending MMS", and its error codes). */
export function readSentMedia(parts: readonly BodyPart[]): NewAttachment[] | Reply {
  if (parts.length > MAX_FILES) return badParameter('MSG-338', 'Message size limit exceeded')
  const media: NewAttachment[] = []
  for (const part of parts) {
    const one = readFile(part)
    if ('status' in one) return one
    media.push(one)
  }
  const size = media.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return size > MAX_BYTES ? badParameter('MSG-338', 'Message size limit exceeded') : media
}

const MAX_FILES = 10
/** Of one file, and of all together. */
const MAX_BYTES = 1_500_000

/** The types in the table of the guide. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  image: ['jpeg', 'png', 'bmp', 'gif', 'tiff', 'svg+xml', 'webp'],
  video: ['3gpp', 'mp4', 'mpeg', 'avi', 'x-flv', 'x-ms-wmv', 'quicktime', 'webm', 'ogg'],
  audio: ['mpeg', 'mp4', 'ogg', 'wav', 'amr', '3gpp'],
  text: ['vcard', 'html', 'plain', 'csv', 'calendar'],
  application: ['zip', 'gzip', 'rtf', 'pdf'],
}

function readFile({ headers, bytes }: BodyPart): NewAttachment | Reply {
  const disposition = headers['content-disposition']
  if (disposition === undefined) return badParameter('MSG-350', 'No content disposition')
  const fileName = parameterOf(disposition, 'filename')
  if (fileName === null || fileName === '') return badParameter('MSG-351', 'No file name in content disposition')
  if (bytes.length === 0) return badParameter('MSG-347', 'Attachment body is empty')
  if (bytes.length > MAX_BYTES) return badParameter('MSG-337', 'Attachment size limit exceeded')
  const contentType = mediaTypeOf(headers['content-type'] ?? '')
  const [kind = '', subtype = ''] = contentType.split('/')
  const isKnown = Object.hasOwn(TYPES, kind) && TYPES[kind]?.includes(subtype) === true
  if (!isKnown) return apiError(415, 'MSG-348', 'Unsupported attachment media type')
  // A copy, because the part is a view of the whole request.
  return { contentType, fileName, bytes: Uint8Array.from(bytes), uri: null }
}
