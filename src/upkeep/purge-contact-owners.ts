import { and, asc, gt, inArray, lt, lte, max } from 'drizzle-orm'
import { HOUR_MS } from '../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../db/batches.ts'
import { contactOwners } from '../db/schema/messages.ts'
import type { Gateway } from '../gateway.ts'

/** Rows read at a time. There is no index by age, because it would cost every message to a new contact. */
const ROWS_PER_RANGE = 2000
/** How far the time of a row may be behind its newest message: the SQL trigger `contact_owners_follow` does not write it for each. */
const BEHIND_MS = HOUR_MS

/** Deletes the owners of contacts whose newest message is past its retention, at most an hour later than the message. */
export async function purgeContactOwners(gateway: Gateway, messagesBefore: number): Promise<void> {
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
    // Keeps a row that was written again since it was read.
    if (seqs.length > 0) await orm.delete(contactOwners).where(and(inArray(seq, seqs), lt(writtenAt, before)))
    cursor = seqs.length === ROWS_PER_BATCH ? (seqs.at(-1) ?? 0) : cursor + ROWS_PER_RANGE
    return { count: seqs.length, last: cursor >= (newest?.seq ?? 0) }
  })
}
