import type { Entry } from './line.ts'
import type { Scheduler } from './scheduler.ts'

/** A message was committed with its send job, and waits for its turn. Behind a long line it is read again when it is near. */
export function enterLine(scheduler: Scheduler, entry: Entry): void {
  if (!entry.line.isLong) return scheduler.add(entry)
  entry.line.hasMore = true
  scheduler.entries.delete(entry)
  scheduler.touch(entry.line)
}
