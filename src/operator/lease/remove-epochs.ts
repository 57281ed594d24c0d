import { sleep } from '../../core/clock.ts'
import { DAY_MS, HOUR_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { folderOf, listEpochs } from './epochs.ts'
import type { HeldLease } from './held-lease.ts'
import type { ObjectStore } from './object-store.ts'
import { ANNOUNCEMENTS } from './standbys.ts'

/** As long as `litestream.yml` keeps earlier states of a copy. Until then, an erased person is still in the backup. */
const RETENTION_MS = DAY_MS

/** Removes the files of earlier holders every hour, for as long as the lease is held. */
export async function keepRemovingEpochs(lease: HeldLease): Promise<void> {
  const { object, clock, log } = lease.options
  for (;;) {
    await sleep(clock, HOUR_MS)
    if (!lease.isHeld) return
    try {
      const now = (await object.read())?.storedAt ?? 0
      const removed = await removeEpochs(object.store, lease.epoch, now)
      if (removed.length > 0) log.info({ epochs: removed.join() }, 'copies of earlier holders were removed')
    } catch (error) {
      log.warn({ error: errorName(error) }, 'copies of earlier holders could not be removed, trying again in an hour')
    }
  }
}

/**
 * Removes the copies of all epochs before the newest one that has a copy, and the announcements of standbys that have gone, if nothing
 * was written to them for the retention. `now`: epoch milliseconds of the storage's clock. Returns the epochs.
 */
export async function removeEpochs(store: ObjectStore, own: number, now: number): Promise<number[]> {
  const isOld = ({ storedAt }: { storedAt: number }): boolean => now - storedAt > RETENTION_MS
  const earlier = (await listEpochs(store)).filter((epoch) => epoch < own)
  const removed: number[] = []
  // This epoch began with the last one, which is the only copy until this epoch has its own.
  for (const epoch of earlier.slice(1)) {
    const objects = await store.list(`${folderOf(epoch)}/`)
    if (!objects.every(isOld)) continue
    for (const { key } of objects) await store.delete(key)
    removed.push(epoch)
  }
  for (const { key } of (await store.list(ANNOUNCEMENTS)).filter(isOld)) await store.delete(key)
  return removed
}
