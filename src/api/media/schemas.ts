import { z } from 'zod'
import { time } from '../fields/answer-fields.ts'
import { isoTime } from '../../core/clock.ts'
import { MAX_FILE_NAME_LENGTH, MAX_MEDIA_BYTES } from '../../core/limits.ts'
import { MEDIA_TYPES } from '../../core/media-types.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import { textFilter } from '../http/list-query.ts'
import { BAD_PARAMETER } from '../http/validated.ts'

export const Media = z
  .object({
    mediaId: z.string(),
    contentType: z.enum(MEDIA_TYPES),
    size: z.int().min(1).max(MAX_MEDIA_BYTES).meta({ description: 'In bytes' }),
    fileName: z.string().nullable().meta({ description: 'Null if the upload named none' }),
    expiresAt: time.meta({ description: 'Kept until this time, or longer if messages use it' }),
  })
  .meta({
    id: 'Media',
    example: {
      mediaId: 'media_0123456789ab',
      contentType: 'image/jpeg',
      size: 48_213,
      fileName: 'door.jpg',
      expiresAt: '2026-11-22T02:30:00.000Z',
    },
  })
export type Media = z.infer<typeof Media>

export const shownMedia = ({ mediaId, contentType, size, fileName, expiresAt }: StoredMedia): Media => ({
  mediaId,
  contentType: contentType as Media['contentType'],
  size,
  fileName,
  expiresAt: isoTime(expiresAt),
})

/** A name alone: the recipient's phone may make a path of slashes, and a line break would end a header. */
const isFileName = (name: string): boolean =>
  name.length <= MAX_FILE_NAME_LENGTH && name.isWellFormed() && !/[\p{Cc}\u2028\u2029/\\]/u.test(name)

export const UploadQuery = z.object({
  fileName: textFilter
    .refine((name) => name === undefined || isFileName(name), { error: BAD_PARAMETER })
    .meta({
      description: 'The file name that the recipient sees; no slashes or control characters',
      maxLength: MAX_FILE_NAME_LENGTH,
      example: 'door.jpg',
    }),
})

/** Any other id is unknown. */
export const MediaParams = z.object({
  mediaId: z.string().meta({ description: 'The media', example: 'media_0123456789ab' }),
})
