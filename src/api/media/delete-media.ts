import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { findMedia } from '../../messages/media/find-media.ts'
import { DELETE_ONE } from '../../messages/media/media-rows.ts'

/** Deletes a file of the caller's tenant, unless a message that has not ended needs it. Errors: `mediaNotFound`, `mediaInUse`. */
export async function deleteMedia(
  { database, clock, media }: Gateway,
  { tenantId }: Caller,
  mediaId: string,
): Promise<{ ok: true }> {
  const found = await findMedia(database.gate, tenantId, [mediaId], clock.now())
  if (found === null) throw apiError('mediaNotFound')
  if ((await media.delete(DELETE_ONE, [mediaId, tenantId])).length === 0) throw apiError('mediaInUse')
  return { ok: true }
}
