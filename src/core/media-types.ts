/** The types of media that an app may send. RingCentral accepts more, but the others could carry a page or an archive. */
export const MEDIA_TYPES = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/bmp',
  'image/tiff',
  'image/webp',
  'video/mp4',
  'video/3gpp',
  'video/mpeg',
  'video/webm',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/wav',
  'audio/amr',
  'text/vcard',
  'text/calendar',
  'text/plain',
  'application/pdf',
] as const
export type MediaType = (typeof MEDIA_TYPES)[number]

/** The type that a `Content-Type` names, without parameters; null if it may not be sent. */
export function mediaTypeOf(header: string | null): MediaType | null {
  const named = header?.split(';', 1)[0]?.trim().toLowerCase()
  return MEDIA_TYPES.find((type) => type === named) ?? null
}

/** The first bytes of images, each as alternatives of Latin-1 text. `?` is any byte. */
const BEGINNINGS: Partial<Record<MediaType, readonly string[]>> = {
  'image/jpeg': ['\xff\xd8\xff'],
  'image/png': ['\x89PNG\r\n\x1a\n'],
  'image/gif': ['GIF87a', 'GIF89a'],
  'image/bmp': ['BM'],
  'image/tiff': ['II*\0', 'MM\0*'],
  'image/webp': ['RIFF????WEBP'],
}

/** Whether bytes may be of a type. A page or a drawing with scripts must not pass for an image. */
export function mayBe(type: MediaType, bytes: Uint8Array): boolean {
  const beginnings = BEGINNINGS[type]
  return beginnings === undefined || beginnings.some((beginning) => beginsWith(bytes, beginning))
}

const ANY_BYTE = 0x3f

const beginsWith = (bytes: Uint8Array, beginning: string): boolean =>
  Buffer.from(beginning, 'latin1').every((byte, index) => byte === ANY_BYTE || bytes[index] === byte)
