import { ATTEMPT_RETENTION_DAYS, DAY_MS, IDEMPOTENCY_RETENTION_MS } from '../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../db/batches.ts'
import type { Gateway } from '../gateway.ts'
import { isEnded } from '../sending/outbound-message.ts'
import { deleteMessages } from './delete-messages.ts'
import { purgeConversations } from './purge-conversations.ts'

/**
 * Deletes what is past its retention: messages after `MESSAGE_RETENTION_DAYS` and conversations up to an hour later,
 * attempts after a week, idempotency keys after a day.
 */
export async function purgeMessages(gateway: Gateway): Promise<{ messages: number; attempts: number; keys: number }> {
  const { messageRetentionDays: days } = gateway.config
  const messages = days === null ? 0 : await purgeByRetention(gateway, gateway.clock.now() - days * DAY_MS)
  const attempts = await purgeAttempts(gateway)
  const keys = await purgeIdempotencyKeys(gateway)
  if (messages > 0) gateway.log.info({ messages }, 'old messages were deleted')
  return { messages, attempts, keys }
}

async function purgeByRetention(gateway: Gateway, before: number): Promise<number> {
  const messages = await purgeOldMessages(gateway, before)
  await purgeConversations(gateway, before)
  return messages
}

/** Deletes from the oldest on, and stops at the first batch of young rows. Skips messages that have not ended. */
function purgeOldMessages(gateway: Gateway, before: number): Promise<number> {
  let cursor = 0
  return inBatches(gateway, async () => {
    const { rows } = await gateway.database.gate.execute({
      sql: 'SELECT seq, id, status, created_at FROM messages WHERE seq > ?1 ORDER BY seq LIMIT ?2',
      args: [cursor, ROWS_PER_BATCH],
    })
    const old = rows.filter((row) => Number(row['created_at']) < before)
    cursor = Number(rows.at(-1)?.['seq'])
    const { messages } = await deleteMessages(
      gateway,
      old.filter((row) => isEnded(row['status'])).map((row) => String(row['id'])),
    )
    return { count: messages, last: isLast(rows, old) }
  })
}

/** The purge ends at a batch without an old row. One young row proves nothing: it may have been stored while the clock was ahead. */
const isLast = (rows: readonly unknown[], old: readonly unknown[]): boolean =>
  rows.length < ROWS_PER_BATCH || old.length === 0

/** Deletes old attempts of messages that have ended. Rate windows and lookups no longer need them. */
function purgeAttempts(gateway: Gateway): Promise<number> {
  const before = gateway.clock.now() - ATTEMPT_RETENTION_DAYS * DAY_MS
  let cursor = 0
  return inBatches(gateway, async () => {
    const { rows } = await gateway.database.gate.execute({
      sql: `SELECT tried.seq, tried.started_at, tried.closed_at, coalesce(messages.status, 'failed') AS status
        FROM send_attempts AS tried LEFT JOIN messages ON messages.id = tried.message_id WHERE tried.seq > ?1 ORDER BY tried.seq LIMIT ?2`,
      args: [cursor, ROWS_PER_BATCH],
    })
    const old = rows.filter((row) => Number(row['started_at']) < before)
    cursor = Number(rows.at(-1)?.['seq'])
    const ended = old
      .filter((row) => row['closed_at'] !== null && isEnded(row['status']))
      .map((row) => Number(row['seq']))
    const sql = 'DELETE FROM send_attempts WHERE seq IN (SELECT value FROM json_each(?1))'
    if (ended.length > 0) await gateway.database.writer.write([{ sql, args: [JSON.stringify(ended)] }])
    return { count: ended.length, last: isLast(rows, old) }
  })
}

/** Every send with a key deletes some old keys. This purge is for a gateway that gets no more of them. */
function purgeIdempotencyKeys(gateway: Gateway): Promise<number> {
  const before = gateway.clock.now() - IDEMPOTENCY_RETENTION_MS
  const sql = `DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys
    WHERE created_at < ?1 ORDER BY created_at LIMIT ?2) RETURNING message_id`
  return inBatches(gateway, async () => {
    const [deleted] = await gateway.database.writer.write([{ sql, args: [before, ROWS_PER_BATCH] }])
    const count = deleted?.rows.length ?? 0
    return { count, last: count < ROWS_PER_BATCH }
  })
}
