import type { Entry } from './line.ts'
import type { Scheduler } from './scheduler.ts'

/** Puts a committed message into its line. A message at the end of a long line is read from the job table when its turn comes near. */
export function enterLine(scheduler: Scheduler, entry: Entry): void {
  if (!entry.line.isLong) return scheduler.add(entry)
  entry.line.hasMore = true
  scheduler.entries.delete(entry)
  scheduler.touch(entry.line)
}
