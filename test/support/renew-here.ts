import type { Clock } from '../../src/core/clock.ts'
import type { BackupSettings } from '../../src/operator/backup/settings.ts'
import type { HeldLeaseOptions } from '../../src/operator/lease/held-lease.ts'
import { LeaseObject } from '../../src/operator/lease/lease-object.ts'
import { ObjectStore } from '../../src/operator/lease/object-store.ts'
import { Renewal } from '../../src/operator/lease/renewal.ts'

/** Renews a lease by a clock of the test, in place of the thread. */
export function renewHere(
  settings: BackupSettings,
  { object, etag, clock }: { object: LeaseObject; etag: string; clock: Clock },
): HeldLeaseOptions['renew'] {
  return (first, hear) => {
    const own = new LeaseObject(new ObjectStore(settings), object.writer)
    own.noteWritten(object.written)
    const renewal = new Renewal(own, etag, first, clock, hear)
    return (wish) => renewal.hear(wish)
  }
}
