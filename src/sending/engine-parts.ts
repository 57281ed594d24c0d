import type { SendingContext } from './context.ts'
import type { NumberLookups } from './number-lookups.ts'
import type { Scheduler } from './scheduler.ts'

/** The parts of the engine that its steps use. */
export interface EngineParts {
  /** Steady time. */
  startedAt: number
  context: SendingContext
  scheduler: Scheduler
  numberLookups: NumberLookups
}
