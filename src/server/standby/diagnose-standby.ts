import type { Config } from '../../core/config.ts'
import { checkStore, checkStandbySettings } from '../../operator/lease/doctor-lease.ts'
import type { Candidate } from '../../operator/lease/differences.ts'
import type { SeenLease } from '../../operator/lease/lease-object.ts'
import type { ObjectStore } from '../../operator/lease/object-store.ts'
import type { WarmCopy } from '../../operator/lease/warm-copy.ts'
import { checkConfiguration, checkDisk, checkProvider } from '../../operator/doctor/surroundings.ts'
import { type Finding, finding, findingOf } from '../../operator/doctor/finding.ts'

interface StandbyParts {
  config: Config
  store: ObjectStore
  candidate: Candidate
  /** As it was read last. */
  lease: SeenLease | null
  warm: WarmCopy
}

/** The checks of a gateway that is not open: whether it could take over. */
export async function diagnoseStandby({ config, store, candidate, lease, warm }: StandbyParts): Promise<Finding[]> {
  const holder = lease === null || lease.content.holder === '' ? 'nobody' : lease.content.holder
  return [
    await findingOf('configuration', () => checkConfiguration({ config })),
    finding('server', 'ok', `standby; ${holder} holds the lease`),
    await findingOf('disk', () => checkDisk(config)),
    await findingOf('provider', () => checkProvider({ config })),
    await findingOf('lease', () => checkStore(store)),
    await findingOf('same configuration', () => checkStandbySettings(candidate, lease)),
    await findingOf('copy', () => warm.describe()),
  ]
}
