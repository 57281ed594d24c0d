import { EVENT_KINDS, type EventKind } from './schema/events.ts'
import type { Statement } from './writer.ts'

export interface NewEvent {
  kind: EventKind
  /** The id of the message or of the opt-out. Reading the event joins that row, so it must be there after the commit. */
  subject: string
  /** Epoch milliseconds. */
  at: number
  /** Fields of the event that its subject does not have. Never a text or a number of a person: these must go with the subject. */
  detail?: Record<string, string | number | boolean | null>
}

/**
 * Appends an event to the log. Hand the statement to the writer together with those of the change that it tells of. The changes
 * of a message's status need none: triggers append them. A statement of its own, with the same columns, can append under a condition.
 */
export const appendEvent = ({ kind, subject, at, detail }: NewEvent): Statement => ({
  sql: `INSERT INTO events (kinds, subject, at, detail) VALUES (?1, ?2, ?3, ?4)`,
  args: [EVENT_KINDS[kind], subject, at, detail === undefined ? null : JSON.stringify(detail)],
})
