import type { OutboundMedia } from '../outbound-sms.ts'

/** The body of a request in pieces, to avoid a full copy. */
export interface Multipart {
  type: string
  chunks: readonly Uint8Array[]
}

/**
 * A message with media (RingCentral developer guide, "Sending MMS"): the JSON is the first part, each file another one. The parts have the
 * names that RingCentral's own clients use. Nobody knows the boundary in advance, so no file can contain it.
 */
export async function multipartOf(message: unknown, media: readonly OutboundMedia[]): Promise<Multipart> {
  const boundary = `sgw-${crypto.randomUUID()}`
  const chunks = [head(boundary, 'json', 'request.json', 'application/json'), bytesOf(JSON.stringify(message))]
  for (const [at, file] of media.entries())
    chunks.push(head(boundary, 'attachment', nameOf(file, at), file.contentType), await file.read())
  chunks.push(bytesOf(`\r\n--${boundary}--\r\n`))
  return { type: `multipart/form-data; boundary=${boundary}`, chunks }
}

/** The line break before a delimiter belongs to it. */
const head = (boundary: string, name: string, fileName: string, contentType: string): Uint8Array =>
  bytesOf(
    `\r\n--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${quotable(fileName)}"\r\nContent-Type: ${contentType}\r\n\r\n`,
  )

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** RingCentral requires a name, and phones rely on its ending. A name of dots could be mistaken for a folder. */
const nameOf = ({ fileName, contentType }: OutboundMedia, at: number): string =>
  fileName === null || /^[\s.]*$/.test(fileName) ? `attachment-${at + 1}.${endingOf(contentType)}` : fileName

const endingOf = (contentType: string): string => ENDINGS[contentType] ?? contentType.replace(/^.*\//, '')

/** Endings that differ from the subtype. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'video/3gpp': '3gp',
  'video/mpeg': 'mpg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'text/vcard': 'vcf',
  'text/calendar': 'ics',
  'text/plain': 'txt',
}

/** Removes characters that could end the header or the quotes around the name for any reader, and those that change the writing direction. */
const quotable = (name: string): string =>
  name.replaceAll(/[\p{Cc}\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069"\\/]/gu, '_')
