import { and, asc, eq, gt, inArray, lt, lte, max } from 'drizzle-orm'
import { ATTEMPT_RETENTION_DAYS, DAY_MS, HOUR_MS, IDEMPOTENCY_RETENTION_MS } from '../../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../../db/batches.ts'
import { contactOwners, messages, sendAttempts } from '../../db/schema/messages.ts'
import type { Gateway } from '../gateway.ts'
import { isEnded } from '../sending/outbound-message.ts'
import { deleteMessages } from './delete-messages.ts'

/**
 * Deletes rows past their retention: messages after `MESSAGE_RETENTION_DAYS`, the owners of their contacts up to an hour later, attempts after
 * a week, idempotency keys after a day.
 */
export async function purgeMessages(gateway: Gateway): Promise<{ messages: number; attempts: number; keys: number }> {
  const { messageRetentionDays: days } = gateway.config
  const deleted = days === null ? 0 : await purgeByRetention(gateway, gateway.clock.now() - days * DAY_MS)
  const attempts = await purgeAttempts(gateway)
  const keys = await purgeIdempotencyKeys(gateway)
  if (deleted > 0) gateway.log.info({ messages: deleted }, 'old messages were deleted')
  return { messages: deleted, attempts, keys }
}

async function purgeByRetention(gateway: Gateway, before: number): Promise<number> {
  const deleted = await purgeOldMessages(gateway, before)
  await purgeContactOwners(gateway, before)
  return deleted
}

/** Deletes from the oldest, and stops at the first batch of young rows. Skips messages that have not ended. */
function purgeOldMessages(gateway: Gateway, before: number): Promise<number> {
  let cursor = 0
  return inBatches(gateway, async () => {
    const { seq, id, status, createdAt } = messages
    const rows = await gateway.database.orm
      .select({ seq, id, status, createdAt })
      .from(messages)
      .where(gt(seq, cursor))
      .orderBy(asc(seq))
      .limit(ROWS_PER_BATCH)
    const old = rows.filter((row) => row.createdAt < before)
    cursor = rows.at(-1)?.seq ?? cursor
    const ended = old.filter((row) => isEnded(row.status))
    const deleted = await deleteMessages(
      gateway,
      ended.map((row) => row.id),
    )
    return { count: deleted.messages, last: isLast(rows, old) }
  })
}

/** The purge ends at a batch without an old row, and not at a single young row: the clock may have been ahead when it was stored. */
const isLast = (rows: readonly unknown[], old: readonly unknown[]): boolean =>
  rows.length < ROWS_PER_BATCH || old.length === 0

/** Rows read at a time. An index by age would slow down every message to a new contact. */
const ROWS_PER_RANGE = 2000
/** How far the time of a row may be behind its newest message: the SQL trigger `contact_owners_follow` does not update it for each message. */
const BEHIND_MS = HOUR_MS

/** Deletes the owners of contacts whose newest message is past its retention, at most an hour later than the message. */
async function purgeContactOwners(gateway: Gateway, messagesBefore: number): Promise<void> {
  const { orm } = gateway.database
  const { seq, writtenAt } = contactOwners
  const [newest] = await orm.select({ seq: max(seq) }).from(contactOwners)
  const before = messagesBefore - BEHIND_MS
  let cursor = 0
  await inBatches(gateway, async () => {
    const rows = await orm
      .select({ seq })
      .from(contactOwners)
      .where(and(gt(seq, cursor), lte(seq, cursor + ROWS_PER_RANGE), lt(writtenAt, before)))
      .orderBy(asc(seq))
      .limit(ROWS_PER_BATCH)
    const seqs = rows.map((row) => row.seq)
    // Keeps a row that was rewritten since it was read.
    if (seqs.length > 0) await orm.delete(contactOwners).where(and(inArray(seq, seqs), lt(writtenAt, before)))
    cursor = seqs.length === ROWS_PER_BATCH ? (seqs.at(-1) ?? 0) : cursor + ROWS_PER_RANGE
    return { count: seqs.length, last: cursor >= (newest?.seq ?? 0) }
  })
}

/** Deletes old attempts of messages that have ended. Rate windows and lookups no longer need them. */
function purgeAttempts(gateway: Gateway): Promise<number> {
  const before = gateway.clock.steady() - ATTEMPT_RETENTION_DAYS * DAY_MS
  let cursor = 0
  return inBatches(gateway, async () => {
    const { seq, startedAt, closedAt, messageId } = sendAttempts
    const rows = await gateway.database.orm
      .select({ seq, startedAt, closedAt, status: messages.status })
      .from(sendAttempts)
      .leftJoin(messages, eq(messages.id, messageId))
      .where(gt(seq, cursor))
      .orderBy(asc(seq))
      .limit(ROWS_PER_BATCH)
    const old = rows.filter((row) => row.startedAt < before)
    cursor = rows.at(-1)?.seq ?? cursor
    // The message of an attempt without one was deleted.
    const ended = old
      .filter((row) => row.closedAt !== null && (row.status === null || isEnded(row.status)))
      .map((row) => row.seq)
    if (ended.length > 0) await gateway.database.orm.delete(sendAttempts).where(inArray(seq, ended))
    return { count: ended.length, last: isLast(rows, old) }
  })
}

/** Every send with a key deletes some old keys. This purge is for a gateway that no longer gets such sends. */
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
