import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { maskNumber } from '../core/phone.ts'
import { inBatches } from '../db/batches.ts'
import { phoneNumbers } from '../db/schema/connections.ts'
import type { Gateway } from '../gateway.ts'
import { type ErasedRows, countRows, eraseRows, readRange } from './erase-rows.ts'
import type { EraseBody } from './schemas.ts'

/** There is no index by contact, so every row of the tables is read, this many at a time. */
const ROWS_PER_RANGE = 2000

/**
 * Deletes every message to or from a person's number, of all tenants, with its attempts, deliveries, conversations and opt-outs.
 * Messages that have not ended are left, and counted as `waiting`. What remains identifies nobody: tombstones, so that a
 * back-fill does not store the messages again, and the attempts of the rate windows. The bytes stay in free pages of the
 * file until they are overwritten or the file is compacted. Errors: `conflict` for a number of a connected extension.
 */
export async function erase(
  gateway: Gateway,
  { phone, dryRun = false }: z.input<typeof EraseBody>,
): Promise<ErasedRows> {
  await refuseOwnNumber(gateway, phone)
  const total: ErasedRows = { messages: 0, attempts: 0, deliveries: 0, waiting: 0 }
  const work = dryRun ? countRows : eraseRows
  await inRanges(gateway, 'messages', async (from) => {
    const done = await work(gateway, await readRange(gateway, phone, from, ROWS_PER_RANGE))
    total.messages += done.messages
    total.attempts += done.attempts
    total.deliveries += done.deliveries
    total.waiting += done.waiting
    return done.messages
  })
  if (dryRun) return total
  // A waiting message still needs its conversation, to assign an answer, and the opt-out. The next run deletes both.
  if (total.waiting === 0) {
    await inRanges(gateway, 'contact_owners', (from) => deleteRange(gateway, 'contact_owners', phone, from))
    await inRanges(gateway, 'opt_outs', (from) => deleteRange(gateway, 'opt_outs', phone, from))
  }
  await deleteErrors(gateway, phone)
  gateway.log.audit({ phone: maskNumber(phone), ...total }, 'a number was erased')
  return total
}

/** Deletes counted error texts that quote the number, from a range of all rows at a time. */
async function deleteErrors(gateway: Gateway, phone: string): Promise<void> {
  const { gate, writer } = gateway.database
  const order = '(tenant_id, half_hour, error)'
  let from: (string | number)[] = ['', -1, '']
  await inBatches(gateway, async () => {
    const { rows } = await gate.execute({
      sql: `SELECT tenant_id, half_hour, error FROM usage_errors WHERE ${order} > (?1, ?2, ?3)
        ORDER BY tenant_id, half_hour, error LIMIT 1 OFFSET ${ROWS_PER_RANGE - 1}`,
      args: from,
    })
    const [end] = rows
    const until = end === undefined ? '' : `AND ${order} <= (?5, ?6, ?7)`
    const to = end === undefined ? [] : [String(end['tenant_id']), Number(end['half_hour']), String(end['error'])]
    const sql = `DELETE FROM usage_errors WHERE instr(error, ?4) > 0 AND ${order} > (?1, ?2, ?3) ${until}`
    const [deleted] = await writer.write([{ sql, args: [...from, phone, ...to] }])
    from = to
    return { count: deleted?.changes ?? 0, last: end === undefined }
  })
}

/** Deletes the rows of one range. The number may also stand on our side, if an extension had it before. */
async function deleteRange(
  { database }: Gateway,
  table: 'contact_owners' | 'opt_outs',
  phone: string,
  from: number,
): Promise<number> {
  const sql = `DELETE FROM ${table} WHERE seq > ?1 AND seq <= ?2 AND (contact = ?3 OR number = ?3) RETURNING seq`
  const [deleted] = await database.writer.write([{ sql, args: [from, from + ROWS_PER_RANGE, phone] }])
  return deleted?.rows.length ?? 0
}

/** By mistake, an operator could otherwise delete everything that a connected number ever sent. */
async function refuseOwnNumber(gateway: Gateway, phone: string): Promise<void> {
  const { number } = phoneNumbers
  const [own] = await gateway.database.orm.select({ number }).from(phoneNumbers).where(eq(number, phone)).limit(1)
  if (own !== undefined)
    throw new ApiError(
      'conflict',
      `${phone} is a number of a connected extension: erase is for the numbers of contacts`,
    )
}

/** Calls `work` for each range of a table's present rows. `from` is the `seq` before the range; `work` returns the rows it deleted. */
async function inRanges(
  gateway: Gateway,
  table: 'messages' | 'contact_owners' | 'opt_outs',
  work: (from: number) => Promise<number>,
): Promise<void> {
  const { rows } = await gateway.database.gate.execute(`SELECT max(seq) AS seq FROM ${table}`)
  const end = Number(rows[0]?.['seq'] ?? 0)
  let from = 0
  await inBatches(gateway, async () => {
    const count = await work(from)
    from += ROWS_PER_RANGE
    return { count, last: from > end }
  })
}
