import { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { isE164, maskNumber } from '../core/phone.ts'
import { inBatches } from '../db/batches.ts'
import type { Gateway } from '../gateway.ts'
import { type ErasedRows, countRows, eraseRows, readRange } from './erase-rows.ts'

export const Erase = z.object({
  phone: z.string().refine(isE164, '--phone must be a phone number such as +15555550100'),
  /** Counts what would go, and deletes nothing. */
  dryRun: z.boolean().default(false),
})

/** No index leads to a person's rows, so the tables are read through, this many rows at a time. */
const ROWS_PER_LOOK = 2000

/**
 * Deletes every message to or from a person's number, of all tenants, with attempts and deliveries, and which app wrote to
 * it last. Messages that are still queued or on their way are left, and counted as `waiting`. What remains names nobody:
 * tombstones, so that the provider's store does not bring messages back, and the attempts of the rate windows. The bytes
 * stay in free places of the file until they are used again or the file is compacted. Errors: `conflict` for a number of our own.
 */
export async function erase(gateway: Gateway, { phone, dryRun = false }: z.input<typeof Erase>): Promise<ErasedRows> {
  await refuseOwnNumber(gateway, phone)
  const total: ErasedRows = { messages: 0, attempts: 0, deliveries: 0, waiting: 0 }
  const work = dryRun ? countRows : eraseRows
  await inRanges(gateway, 'messages', async (from) => {
    const done = await work(gateway, await readRange(gateway, phone, from, ROWS_PER_LOOK))
    total.messages += done.messages
    total.attempts += done.attempts
    total.deliveries += done.deliveries
    total.waiting += done.waiting
    return done.messages
  })
  if (dryRun) return total
  // Whom the person answers is still of use to a message that waits; it goes with the next run.
  if (total.waiting === 0) await inRanges(gateway, 'conversations', (from) => forgetRange(gateway, phone, from))
  await forgetErrors(gateway, phone)
  gateway.log.info({ phone: maskNumber(phone), ...total }, 'a number was erased')
  return total
}

/** An error of the provider may quote the number. */
async function forgetErrors({ database }: Gateway, phone: string): Promise<void> {
  await database.writer.write([{ sql: 'DELETE FROM usage_errors WHERE instr(error, ?1) > 0', args: [phone] }])
}

/** The number may have been one of ours before. */
async function forgetRange({ database }: Gateway, phone: string, from: number): Promise<number> {
  const sql = 'DELETE FROM conversations WHERE seq > ?1 AND seq <= ?2 AND (contact = ?3 OR number = ?3) RETURNING seq'
  const [deleted] = await database.writer.write([{ sql, args: [from, from + ROWS_PER_LOOK, phone] }])
  return deleted?.rows.length ?? 0
}

/** A slip would delete everything that a number of ours ever sent. */
async function refuseOwnNumber(gateway: Gateway, phone: string): Promise<void> {
  const { rows } = await gateway.database.gate.execute({
    sql: 'SELECT 1 FROM phone_numbers WHERE number = ?1 LIMIT 1',
    args: [phone],
  })
  if (rows.length > 0)
    throw new ApiError(
      'conflict',
      `${phone} is a number of a connected extension: erase is for the numbers of those who were written to`,
    )
}

/** Walks through a table as it is now; `work` gets the `seq` behind which its range begins, and answers how many rows went. */
async function inRanges(
  gateway: Gateway,
  table: 'messages' | 'conversations',
  work: (from: number) => Promise<number>,
): Promise<void> {
  const { rows } = await gateway.database.gate.execute(`SELECT max(seq) AS seq FROM ${table}`)
  const end = Number(rows[0]?.['seq'] ?? 0)
  let from = 0
  await inBatches(gateway, async () => {
    const count = await work(from)
    from += ROWS_PER_LOOK
    return { count, last: from > end }
  })
}
