import { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { isE164, maskNumber } from '../core/phone.ts'
import { inBatches } from '../db/batches.ts'
import { type DeletedRows, deleteMessages } from '../features/sms/delete-messages.ts'
import type { Gateway } from '../gateway.ts'
import { isEnded } from '../sending/outbound-message.ts'

export const Erase = z.object({
  phone: z.string().refine(isE164, '--phone must be a phone number such as +15555550100'),
})

export interface Erased extends DeletedRows {
  /** Messages to that number that are still queued or on their way: they are left, run it again. */
  waiting: number
}

/** No index leads to a person's rows, so the tables are read through, this many rows at a time. */
const ROWS_PER_LOOK = 2000

/**
 * Deletes every message to or from a person's number, of all tenants, with attempts and deliveries, and which app wrote to
 * it last. The bytes stay in free places of the file until they are used again or the file is compacted. Errors:
 * `conflict` for a number of our own.
 */
export async function erase(gateway: Gateway, { phone }: z.output<typeof Erase>): Promise<Erased> {
  await refuseOwnNumber(gateway, phone)
  const total: Erased = { messages: 0, attempts: 0, deliveries: 0, waiting: 0 }
  await inRanges(gateway, 'messages', (from) => eraseRange(gateway, phone, from, total))
  // Whom the person answers is still of use to a message that waits; it goes with the next run.
  if (total.waiting === 0) await inRanges(gateway, 'conversations', (from) => forgetRange(gateway, phone, from))
  gateway.log.info({ phone: maskNumber(phone), ...total }, 'a number was erased')
  return total
}

async function eraseRange(gateway: Gateway, phone: string, from: number, total: Erased): Promise<number> {
  const { rows } = await gateway.database.gate.execute({
    sql: 'SELECT id, status FROM messages WHERE seq > ?1 AND seq <= ?2 AND (from_number = ?3 OR to_number = ?3)',
    args: [from, from + ROWS_PER_LOOK, phone],
  })
  const ended = rows.filter((row) => isEnded(row['status']))
  const deleted = await deleteMessages(
    gateway,
    ended.map((row) => String(row['id'])),
  )
  total.messages += deleted.messages
  total.attempts += deleted.attempts
  total.deliveries += deleted.deliveries
  total.waiting += rows.length - ended.length
  return deleted.messages
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
