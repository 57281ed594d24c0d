import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { type MediaType, mayBe, mediaTypeOf } from '../../core/media-types.ts'
import { SpoolFile } from '../../db/spool-file.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import { readUpload, refuseLength } from './read-upload.ts'

interface Uploaded {
  media: StoredMedia
  isNew: boolean
}

const RETRY_AFTER_SECONDS = 5

/**
 * Stores the file in the body of a request. Resolves when it is on disk. Errors: `mediaEmpty`, `tooLarge`, `unsupportedMedia`, `slowBody`,
 * `tooMany`, `mediaFull`, `tenantMediaFull`, `storageUnavailable`.
 */
export async function uploadMedia(
  { media, config, clock }: Gateway,
  { tenantId }: Caller,
  request: Request,
  fileName = '',
): Promise<Uploaded> {
  const contentType = mediaTypeOf(request.headers.get('content-type'))
  if (!media.isOn) throw apiError('mediaFull')
  refuseLength(request)
  if (contentType === null) throw apiError('unsupportedMedia')
  media.refuseFullDisk()
  const slot = media.slots.acquire(tenantId)
  if (slot === null) throw apiError('tooMany', RETRY_AFTER_SECONDS)
  try {
    using spool = new SpoolFile(config.database.path)
    await readUpload(request, clock, spool)
    refuseOther(contentType, spool)
    return await media.store({ tenantId, contentType, fileName }, spool)
  } finally {
    slot.release()
  }
}

const HEAD_BYTES = 16

function refuseOther(contentType: MediaType, spool: SpoolFile): void {
  if (!mayBe(contentType, spool.read(0, new Uint8Array(HEAD_BYTES)))) throw apiError('unsupportedMedia')
}
