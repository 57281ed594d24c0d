import { asc } from 'drizzle-orm'
import type { Config } from '../../core/config.ts'
import { DAY_MS } from '../../core/limits.ts'
import { inBatches } from '../../db/batches.ts'
import { events } from '../../db/schema/events.ts'
import type { Gateway } from '../gateway.ts'

/** Deleting this many consecutive rows takes less than a millisecond. */
const ROWS_AT_ONCE = 500

/** Keeps the newest row, so that no number is used twice. */
const DELETE = 'DELETE FROM events WHERE seq <= ?1 AND seq < (SELECT max(seq) FROM events)'

/**
 * Deletes events older than `EVENT_RETENTION`, in small batches and in the order of the log, so that a cursor alone shows
 * whether events after it are gone. Returns how many rows it deleted.
 */
export async function purgeEvents(gateway: Gateway): Promise<number> {
  const { database, clock, config, receipts } = gateway
  // Delivery states are opened from these events.
  await receipts.startTracking()
  const before = clock.now() - retentionMs(config)
  return inBatches(gateway, async () => {
    const rows = await database.orm
      .select({ seq: events.seq, at: events.at })
      .from(events)
      .orderBy(asc(events.seq))
      .limit(ROWS_AT_ONCE)
    // A single young row does not end the purge, because the clock may have been ahead when it was stored.
    const lastOld = rows.findLast(({ at }) => at < before)
    if (lastOld === undefined) return { count: 0, last: true }
    const [deleted] = await database.writer.write([{ sql: DELETE, args: [lastOld.seq] }])
    return { count: deleted?.changes ?? 0, last: rows.length < ROWS_AT_ONCE }
  })
}

/** Events must not outlive their messages: the events of a purged message would be missing without a gap. */
const retentionMs = ({ eventRetentionMs, messageRetentionDays }: Config): number =>
  Math.min(eventRetentionMs, (messageRetentionDays ?? Infinity) * DAY_MS)

const LONGEST_WAIT_MS = 5 * 60_000
const WAITS_PER_RETENTION = 10

/** How often events are purged: often enough for a short retention. */
export const purgeEventsEveryMs = ({ eventRetentionMs }: Config): number =>
  Math.min(LONGEST_WAIT_MS, eventRetentionMs / WAITS_PER_RETENTION)
