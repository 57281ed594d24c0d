import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Gate } from '../db/gate.ts'
import type { Writer } from '../db/writer.ts'

/** Dependencies that all loops share. */
export interface LoopContext {
  gate: Gate
  writer: Writer
  clock: Clock
  log: Log
  /** Runs a callback in a later tick of the event loop, so that a long run of jobs does not block other work. */
  defer: (run: () => void) => void
}
