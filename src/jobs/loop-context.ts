import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Gate } from '../db/gate.ts'
import type { Writer } from '../db/writer.ts'

/** What all loops share. */
export interface LoopContext {
  gate: Gate
  writer: Writer
  clock: Clock
  log: Log
  /** Lets the event loop breathe between picks. */
  defer: (run: () => void) => void
}
