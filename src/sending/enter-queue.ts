import type { Entry } from './number-queue.ts'
import type { Scheduler } from './scheduler.ts'

/** Puts a committed message into its queue. A message at the end of a long queue is read from the job table when its turn comes near. */
export function enterQueue(scheduler: Scheduler, entry: Entry): void {
  if (!entry.queue.isLong) return scheduler.add(entry)
  entry.queue.hasMore = true
  scheduler.entries.delete(entry)
  scheduler.touch(entry.queue)
}
