import { sizeText } from './files.ts'

/** The types that the gateway accepts (`src/core/media-types.ts`). */
export const SENT_TYPES: readonly string[] = [
  ...['jpeg', 'png', 'gif', 'bmp', 'tiff', 'webp'].map((type) => `image/${type}`),
  ...['mp4', '3gpp', 'mpeg', 'webm'].map((type) => `video/${type}`),
  ...['mpeg', 'mp4', 'ogg', 'wav', 'amr'].map((type) => `audio/${type}`),
  ...['vcard', 'calendar', 'plain'].map((type) => `text/${type}`),
  'application/pdf',
]
/** Other names that browsers use for them. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/x-wav': 'audio/wav',
  'audio/x-m4a': 'audio/mp4',
  'text/x-vcard': 'text/vcard',
}
const MAX_FILES = 10
/** For all files of a message together. */
export const MAX_BYTES = 1_500_000
const MAX_NAME_LENGTH = 255

/** Why each file cannot be sent together with the valid ones before it; '' if it can. */
export function problemsOf(files: readonly Pick<File, 'type' | 'size'>[]): string[] {
  let taken = 0
  let bytes = 0
  return files.map((file) => {
    const problem = problemOf(file, taken, MAX_BYTES - bytes)
    if (problem !== '') return problem
    taken++
    bytes += file.size
    return ''
  })
}

function problemOf(file: Pick<File, 'type' | 'size'>, taken: number, leftBytes: number): string {
  if (!SENT_TYPES.includes(typeOf(file))) return 'This type of file cannot be sent'
  if (file.size === 0) return 'Is empty'
  if (file.size > MAX_BYTES) return `Too large: a message takes ${sizeText(MAX_BYTES)}`
  if (taken === MAX_FILES) return `A message takes ${MAX_FILES} files`
  return file.size > leftBytes ? `Too large beside the others: ${sizeText(leftBytes)} left` : ''
}

/** The type in the gateway's spelling. */
export const typeOf = ({ type }: Pick<File, 'type'>): string => {
  const [named = ''] = type.toLowerCase().split(';')
  return ALIASES[named] ?? named
}

/** In the form of names that the gateway accepts: short, and without characters that could end a path or a header. */
export const safeName = (name: string): string =>
  name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029/\\]/gu, '_')
    .slice(-MAX_NAME_LENGTH)
    .toWellFormed()
