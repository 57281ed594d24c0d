import type { Entry, Line } from './line.ts'
import type { Sender } from './sender.ts'

/** The work that the scheduler hands to others. */
export interface SchedulerTasks {
  /** Opens attempts for these entries and makes their calls. */
  begin(entries: readonly Begun[]): void
  /** Reads entries of the line after its cursor. */
  readMore(line: Line): null
  /** Called when no extension can send for the line at present. */
  withoutSender(line: Line, entry: Entry, sender: Exclude<Sender, { type: 'ready' }>): null
  /** Called when the provider has refused the entry's number for the extension that has it in memory. */
  refused(line: Line, entry: Entry): null
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
