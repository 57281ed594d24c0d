import { inBatches } from '../../db/batches.ts'
import { DELETE_BROKEN, DELETE_EXPIRED } from './media-rows.ts'
import type { MediaStore } from './media-store.ts'

/** Storing an upload takes seconds at most, so an older unfinished one was interrupted by a kill. */
const BROKEN_AFTER_MS = 30 * 60_000

/** Deletes expired media, and the remains of interrupted uploads. Returns how many. */
export async function purgeMedia(
  media: MediaStore,
  { lifecycle }: { lifecycle: { draining: boolean } },
): Promise<number> {
  const { clock } = media.context
  const now = clock.now()
  const purge = (sql: string, before: number): Promise<number> =>
    inBatches({ clock, lifecycle }, async () => {
      const { length: count } = await media.delete(sql, [before])
      return { count, last: count === 0 }
    })
  return (await purge(DELETE_BROKEN, now - BROKEN_AFTER_MS)) + (await purge(DELETE_EXPIRED, now))
}
