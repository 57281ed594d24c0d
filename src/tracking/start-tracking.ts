import { EVENT_KINDS } from '../db/schema/events.ts'
import type { TrackingContext } from './context.ts'
import { TRACKED_MS } from './poll-plan.ts'

/** Some 6 ms of the event loop. */
const EVENTS_PER_STEP = 1000

const THROUGH = 'tracked_through'

/** Ordered by extension: rows of one extension share a page of the index, rows of a hundred extensions do not. */
const INSERT_STATES = `INSERT INTO delivery_states (message_seq, tenant_id, extension_id, sent_at)
  SELECT messages.seq, messages.tenant_id, sent.extension_id, sent.closed_at FROM events
  CROSS JOIN messages ON messages.id = events.subject AND messages.status = 'sent'
  CROSS JOIN send_attempts AS sent ON sent.message_id = messages.id AND sent.closed_at > ?3
    AND (sent.outcome = 'accepted' OR sent.resolution = 'sent')
  WHERE events.seq > ?1 AND events.seq <= ?2 AND events.kinds & ${EVENT_KINDS.sent}
  ORDER BY messages.tenant_id, sent.extension_id, sent.closed_at
  ON CONFLICT DO NOTHING`

const STORE_THROUGH = `INSERT INTO facts (name, value) VALUES ('${THROUGH}', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/**
 * Starts tracking the messages that became `sent` since the last call: inserts their delivery states from the event log.
 * Sending itself inserts none, because one at a time each row would change another page of the index.
 */
export async function startTracking({ database, clock }: Pick<TrackingContext, 'database' | 'clock'>): Promise<void> {
  const { gate, writer } = database
  const { rows } = await gate.execute(
    `SELECT (SELECT value FROM facts WHERE name = '${THROUGH}') AS through, (SELECT max(seq) FROM events) AS newest`,
  )
  const newest = Number(rows[0]?.['newest'] ?? 0)
  const sentAfter = Math.floor(clock.steady()) - TRACKED_MS
  for (let from = Number(rows[0]?.['through'] ?? 0); from < newest; from += EVENTS_PER_STEP) {
    const until = Math.min(from + EVENTS_PER_STEP, newest)
    await writer.write([
      { sql: INSERT_STATES, args: [from, until, sentAfter] },
      { sql: STORE_THROUGH, args: [String(until)] },
    ])
  }
}
