import { type SQL, and, eq, gt, lte, max, or, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { maskNumber } from '../core/phone.ts'
import { inBatches } from '../db/batches.ts'
import { consents, contactOwners, messages, optOuts, phoneNumbers, usageErrors } from '../db/schema/index.ts'
import type { Gateway } from '../messages/gateway.ts'
import { cancelAll } from './cancel-messages.ts'
import { type ErasedRows, type Found, countRows, eraseRows, readRange } from './erase-rows.ts'
import type { EraseBody } from './schemas.ts'

/** There is no index by contact, so every row of the tables is read, in steps of this many. */
const ROWS_PER_RANGE = 2000

/**
 * Deletes every message to or from a person's number, of all tenants, with its attempts, deliveries, conversations, opt-outs and consents.
 * Messages that have not ended stay, and count as `waiting`; with `cancel`, messages that are still queued are cancelled first. The rest
 * identifies nobody: tombstones, so that a back-fill does not store the messages again, and the attempts of the rate windows. The bytes stay
 * in free pages of the file until they are overwritten or the file is compacted. Errors: `conflict` for a number of a connected extension.
 */
export async function erase(
  gateway: Gateway,
  { phone, dryRun = false, cancel = false }: z.input<typeof EraseBody>,
): Promise<ErasedRows> {
  await refuseOwnNumber(gateway, phone)
  using _ = dryRun ? null : gateway.consents.erasing(phone)
  const total: ErasedRows = { messages: 0, attempts: 0, deliveries: 0, waiting: 0 }
  const work = dryRun ? countRows : eraseRows
  await inRanges(gateway, messages, async (from) => {
    const range = (): Promise<Found[]> => readRange(gateway, phone, from, ROWS_PER_RANGE)
    let found = await range()
    if (cancel && !dryRun && (await cancelAll(gateway, found.filter(isQueued))) > 0) found = await range()
    const done = await work(gateway, cancel && dryRun ? found.map(asCancelled) : found)
    total.messages += done.messages
    total.attempts += done.attempts
    total.deliveries += done.deliveries
    total.waiting += done.waiting
    return done.messages
  })
  if (dryRun) return total
  // A waiting message still needs its conversation, to assign an answer, and the opt-out. The next run deletes both.
  if (total.waiting === 0) {
    // In this order: a list's commit that was on its way is done before the last row of consents is read.
    await inRanges(gateway, contactOwners, (from) => deleteRange(gateway, contactOwners, phone, from))
    await inRanges(gateway, consents, (from) => deleteRange(gateway, consents, phone, from))
    await inRanges(gateway, optOuts, (from) => deleteRange(gateway, optOuts, phone, from))
  }
  await deleteErrors(gateway, phone)
  gateway.log.audit({ phone: maskNumber(phone), ...total }, 'a number was erased')
  return total
}

const isQueued = ({ status }: Pick<Found, 'status'>): boolean => status === 'queued'
const asCancelled = (message: Found): Found => (isQueued(message) ? { ...message, status: 'failed' } : message)

/** Deletes counted error texts that quote the number, from a range of all rows at a time. */
async function deleteErrors(gateway: Gateway, phone: string): Promise<void> {
  const { orm } = gateway.database
  const { tenantId, halfHour, error } = usageErrors
  const position = sql`(${tenantId}, ${halfHour}, ${error})`
  let isAfter: SQL | undefined
  await inBatches(gateway, async () => {
    const [end] = await orm
      .select({ tenantId, halfHour, error })
      .from(usageErrors)
      .where(isAfter)
      .orderBy(tenantId, halfHour, error)
      .limit(1)
      .offset(ROWS_PER_RANGE - 1)
    const to = end && sql`(${end.tenantId}, ${end.halfHour}, ${end.error})`
    const deleted = await orm
      .delete(usageErrors)
      .where(and(sql`instr(${error}, ${phone}) > 0`, isAfter, to && sql`${position} <= ${to}`))
      .returning({ halfHour })
    isAfter = to && sql`${position} > ${to}`
    return { count: deleted.length, last: to === undefined }
  })
}

/** Deletes the rows of one range. The number may also be the tenant's, if an extension had it before. */
async function deleteRange(
  { database }: Gateway,
  table: typeof contactOwners | typeof optOuts | typeof consents,
  phone: string,
  from: number,
): Promise<number> {
  const { seq, contact, number } = table
  const deleted = await database.orm
    .delete(table)
    .where(and(gt(seq, from), lte(seq, from + ROWS_PER_RANGE), or(eq(contact, phone), eq(number, phone))))
    .returning({ seq })
  return deleted.length
}

/** Otherwise, an operator could mistakenly delete everything that a connected number ever sent. */
async function refuseOwnNumber(gateway: Gateway, phone: string): Promise<void> {
  const { number } = phoneNumbers
  const [own] = await gateway.database.orm.select({ number }).from(phoneNumbers).where(eq(number, phone)).limit(1)
  if (own !== undefined)
    throw new ApiError('conflict', `${phone} belongs to a connected extension: erase is only for contacts' numbers`)
}

/** Calls `work` for each range of a table's present rows. `from` is the `seq` before the range; `work` returns the rows it deleted. */
async function inRanges(
  gateway: Gateway,
  table: typeof messages | typeof contactOwners | typeof optOuts | typeof consents,
  work: (from: number) => Promise<number>,
): Promise<void> {
  const [newest] = await gateway.database.orm.select({ seq: max(table.seq) }).from(table)
  const end = newest?.seq ?? 0
  let from = 0
  await inBatches(gateway, async () => {
    const count = await work(from)
    from += ROWS_PER_RANGE
    return { count, last: from > end }
  })
}
