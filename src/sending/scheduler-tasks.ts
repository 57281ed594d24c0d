import type { Entry, NumberQueue } from './number-queue.ts'
import type { Sender } from './sender.ts'

/** The work that the scheduler hands to others. */
export interface SchedulerTasks {
  /** Opens attempts for these entries and makes their calls. */
  begin(entries: readonly Begun[]): void
  /** Reads entries of the queue after its cursor. */
  readMore(queue: NumberQueue): null
  /** Called when no extension can send for the queue at present. */
  withoutSender(queue: NumberQueue, entry: Entry, sender: Exclude<Sender, { type: 'ready' }>): null
  /** Called when the provider has refused the entry's number for the extension that has it in memory. */
  refused(queue: NumberQueue, entry: Entry): null
  /** Called when a call has ended. */
  left(): void
}

/** An entry that has its slots and an extension. */
export interface Begun {
  entry: Entry
  extensionId: string
  /** Identifies its slots in the rate windows. */
  mark: number
}
