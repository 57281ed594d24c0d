import { basename, extname } from 'node:path'
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

async function readFile(path: string): Promise<{ file: Blob; fileName: string }> {
  const bytes = await Bun.file(path)
    .bytes()
    .catch(() => null)
  if (bytes === null) throw new CliError(`${path} cannot be read: check the path and its permissions`, EXIT.usage)
  const type = typeOf(path, bytes)
  if (type === null) throw new CliError(`${path} has no type that can be sent: ${MEDIA_TYPES.join(', ')}`, EXIT.usage)
  return { file: new Blob([bytes], { type }), fileName: basename(path) }
}

const IMAGES = MEDIA_TYPES.filter((type) => type.startsWith('image/'))

/** An image is what its bytes say, any other file what its name says. */
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
