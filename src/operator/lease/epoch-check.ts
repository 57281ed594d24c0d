import type { LeaseObject, SeenLease } from './lease-object.ts'

/**
 * Why the lease is not this process's any more; null if it is. Asked after an upload returned: a later holder raises the epoch before it
 * reads the copy, so if the epoch is still the own one now, the later holder will have the upload. No clock decides. Errors: `StoreError`;
 * `StartError` if the object is no lease.
 */
export const checkEpoch = async (object: LeaseObject, epoch: number): Promise<string | null> =>
  whyLost(object, epoch, await object.read())

/** The writer is compared as well: a storage whose conditions are not atomic may give one epoch to two. */
function whyLost(object: LeaseObject, epoch: number, seen: SeenLease | null): string | null {
  if (seen === null) return 'the lease object is gone'
  const { content } = seen
  if (object.isOwn(seen) && content.epoch === epoch) return null
  return content.holder === ''
    ? `epoch ${content.epoch} has begun`
    : `${content.holder} has taken it with epoch ${content.epoch}`
}
