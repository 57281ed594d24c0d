import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { findMedia } from '../../messages/media/find-media.ts'
import { type Media, shownMedia } from './schemas.ts'

/** The properties of a file of the caller's tenant. Errors: `mediaNotFound`. */
export async function getMedia({ database, clock }: Gateway, { tenantId }: Caller, mediaId: string): Promise<Media> {
  const [found] = (await findMedia(database.gate, tenantId, [mediaId], clock.now())) ?? []
  if (found === undefined) throw apiError('mediaNotFound')
  return shownMedia(found)
}
