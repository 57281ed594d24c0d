import { basename, extname } from 'node:path'
import { MAX_MEDIA_BYTES } from '../core/limits.ts'
import { MEDIA_TYPES, type MediaType, mayBe } from '../core/media-types.ts'
import { EXIT } from '../core/start-error.ts'
import type { Media } from '../client/sms-types.ts'
import { ask } from './ask.ts'
import { type CliContext, CliError } from './context.ts'

/** Uploads files for the app that sends from a number. Returns that app, and the ids of its media in order. */
export async function uploadAll(
  context: CliContext,
  sender: { from: string; app: string | undefined },
  files: readonly string[],
): Promise<{ appId: string; mediaIds: string[] }> {
  const media = await Promise.all(files.map(readFile))
  refuseSizes(media)
  const { from, app } = sender
  const query = new URLSearchParams({ from, ...(app === undefined ? {} : { appId: app }) })
  const path = `/v1/operator/sender?${query}`
  const { appId } = (await ask(context, { method: 'GET', path, needs: 'server' })) as { appId: string }
  const mediaIds: string[] = []
  for (const { file, fileName } of media) {
    const upload = `/v1/sms/media?${new URLSearchParams({ fileName })}`
    const stored = (await ask(context, { method: 'POST', path: upload, file, appId, needs: 'server' })) as Media
    mediaIds.push(stored.mediaId)
  }
  return { appId, mediaIds }
}

interface NamedFile {
  file: Blob
  fileName: string
}

const bytesText = (bytes: number): string => `${bytes.toLocaleString('en')} bytes`

/** Explains more than the server would, before anything is uploaded. One file and all files together have the same limit. */
function refuseSizes(media: readonly NamedFile[]): void {
  for (const { file, fileName } of media) {
    if (file.size === 0) throw new CliError(`${fileName} is empty`, EXIT.usage)
    if (file.size > MAX_MEDIA_BYTES)
      throw new CliError(
        `${fileName} has ${bytesText(file.size)}, and a file may have ${bytesText(MAX_MEDIA_BYTES)}: make it smaller`,
        EXIT.usage,
      )
  }
  const all = media.reduce((sum, { file }) => sum + file.size, 0)
  if (all > MAX_MEDIA_BYTES)
    throw new CliError(
      `The files have ${bytesText(all)} together, and the files of one message may have ${bytesText(MAX_MEDIA_BYTES)}: send them in several messages`,
      EXIT.usage,
    )
}

async function readFile(path: string): Promise<NamedFile> {
  const bytes = await Bun.file(path)
    .bytes()
    .catch(() => null)
  if (bytes === null) throw new CliError(`${path} cannot be read: check the path and its permissions`, EXIT.usage)
  const type = typeOf(path, bytes)
  if (type === null && bytes.length > 0) throw new CliError(whyNoType(path), EXIT.usage)
  return { file: new Blob([bytes], type === null ? {} : { type }), fileName: basename(path) }
}

/** A file whose name says that it is a picture, but whose bytes do not. */
function whyNoType(path: string): string {
  return /\.(jpe?g|png|gif|bmp|tiff?|webp|heic|heif|avif|svg)$/i.test(path)
    ? `${path} does not contain a JPEG, PNG, GIF, BMP, TIFF or WebP picture, whatever its name says: it may be a HEIC or SVG picture, or an error page saved under that name. Convert it`
    : `${path} is not a type that can be sent: ${MEDIA_TYPES.join(', ')}`
}

const IMAGES = MEDIA_TYPES.filter((type) => type.startsWith('image/'))

/** The type of an image comes from its bytes, that of any other file from its name. */
const typeOf = (path: string, bytes: Uint8Array): MediaType | null =>
  IMAGES.find((type) => mayBe(type, bytes)) ?? TYPES[extname(path).toLowerCase()] ?? null

const TYPES: Readonly<Record<string, MediaType>> = {
  '.mp4': 'video/mp4',
  '.3gp': 'video/3gpp',
  '.mpg': 'video/mpeg',
  '.mpeg': 'video/mpeg',
  '.webm': 'video/webm',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
  '.amr': 'audio/amr',
  '.vcf': 'text/vcard',
  '.ics': 'text/calendar',
  '.txt': 'text/plain',
  '.pdf': 'application/pdf',
}
