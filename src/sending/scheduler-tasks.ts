import type { Entry, Line } from './line.ts'
import type { Sender } from './sender.ts'

/** What the scheduler asks others to do. */
export interface SchedulerTasks {
  /** Opens attempts for these entries and makes their calls. */
  begin(entries: readonly Begun[]): void
  /** The line's entries behind its cursor are needed. */
  readMore(line: Line): null
  /** Nobody can send for the line at present. */
  withoutSender(line: Line, entry: Entry, sender: Exclude<Sender, { type: 'ready' }>): null
  /** The provider refused the entry's number for the very extension that has it by what is known. */
  refused(line: Line, entry: Entry): null
  /** A call has ended. */
  left(): void
}

/** An entry that has its place in all bounds, and an extension. */
export interface Begun {
  entry: Entry
  extensionId: string
  /** Of its slots in the rate windows. */
  mark: number
}
