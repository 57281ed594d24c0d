import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Slot } from '../../core/limiter.ts'
import { MAX_UPLOADS_WAITING, MAX_UPLOAD_WAIT_MS } from '../../core/limits.ts'
import { mayBe, mediaTypeOf } from '../../core/media-types.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import { readUpload, refuseLength } from './read-upload.ts'

/**
 * Stores the file in the body of a request. Resolves when it is on disk. Errors: `mediaEmpty`, `tooLarge`, `unsupportedMedia`, `slowBody`,
 * `tooMany`, `mediaFull`, `tenantMediaFull`, `storageUnavailable`.
 */
export async function uploadMedia(
  { media, clock }: Gateway,
  { tenantId }: Caller,
  request: Request,
  fileName: string | undefined,
): Promise<{ media: StoredMedia; isNew: boolean }> {
  const contentType = mediaTypeOf(request.headers.get('content-type'))
  if (!media.isOn) throw apiError('mediaFull')
  refuseLength(request)
  if (contentType === null) throw apiError('unsupportedMedia')
  const slot = await slotFor({ media, clock }, tenantId)
  try {
    const bytes = await readUpload(request, clock)
    if (!mayBe(contentType, bytes)) throw apiError('unsupportedMedia')
    return await media.store({ tenantId, contentType, fileName: fileName ?? '', bytes })
  } finally {
    slot.release()
  }
}

const RETRY_AFTER_SECONDS = 5

/** Waits, unread, for one of the slots. */
function slotFor({ media, clock }: Pick<Gateway, 'media' | 'clock'>, tenantId: string): Promise<Slot> {
  const free = media.slots.acquire(tenantId)
  if (free !== null) return Promise.resolve(free)
  if (media.waiting >= MAX_UPLOADS_WAITING) throw apiError('tooMany', RETRY_AFTER_SECONDS)
  media.waiting++
  const waited = new Promise<Slot>((resolve, reject) => {
    const cancel = clock.after(MAX_UPLOAD_WAIT_MS, () => {
      leave()
      reject(apiError('tooMany', RETRY_AFTER_SECONDS))
    })
    const leave = media.slots.request(tenantId, [], (slot) => {
      cancel()
      resolve(slot)
    })
  })
  return waited.finally(() => media.waiting--)
}
