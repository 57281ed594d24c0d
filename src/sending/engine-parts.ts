import type { SendingContext } from './context.ts'
import type { NumberLookups } from './number-lookups.ts'
import type { Scheduler } from './scheduler.ts'

/** The parts of the engine that its steps use. */
export interface EngineParts {
  context: SendingContext
  scheduler: Scheduler
  quarantine: Quarantine
  numberLookups: NumberLookups
}

/**
 * After a restore, waiting messages may have been sent since the backup. They are quarantined: each holds its conversation until
 * a lookup that began after `endsAt` has found out whether the provider has it.
 */
export interface Quarantine {
  /** Whether any message may be quarantined. */
  isActive: boolean
  /** Steady time: the settle time after this start. By then all calls made before the restore have ended. */
  readonly endsAt: number
}
