import { EVENT_KINDS } from '../../db/schema/events.ts'
import type { ReceiptContext } from './context.ts'
import { TRACKED_MS } from './poll-plan.ts'

/** About 6 ms of the event loop. */
const EVENTS_PER_STEP = 1000

/** The fact that says up to which event tracking has started. It is absent while tracking is off. */
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
 * Starts tracking the messages that became `sent` since the last call: inserts their delivery states from the event log. Sending itself
 * inserts none, because one at a time, each row would change a different page of the index. However long the gateway was stopped, none is
 * skipped; only the first call after tracking was off skips those over a day old.
 */
export async function startTracking({ database, clock }: Pick<ReceiptContext, 'database' | 'clock'>): Promise<void> {
  const { gate, writer } = database
  const { rows } = await gate.execute(
    `SELECT (SELECT value FROM facts WHERE name = '${THROUGH}') AS through, (SELECT max(seq) FROM events) AS newest`,
  )
  const { through = null, newest } = rows[0] ?? {}
  const sentAfter = through === null ? Math.floor(clock.steady()) - TRACKED_MS : 0
  const end = Number(newest ?? 0)
  for (let from = Number(through ?? 0), isFirst = through === null; from < end || isFirst; isFirst = false) {
    const until = Math.min(from + EVENTS_PER_STEP, end)
    await writer.write([
      { sql: INSERT_STATES, args: [from, until, sentAfter] },
      { sql: STORE_THROUGH, args: [String(until)] },
    ])
    from = until
  }
}

/** Records that messages that become `sent` from now on are not tracked. */
export async function leaveUntracked({ database }: Pick<ReceiptContext, 'database'>): Promise<void> {
  await database.writer.write([{ sql: `DELETE FROM facts WHERE name = '${THROUGH}'`, args: [] }])
}
