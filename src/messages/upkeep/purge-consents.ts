import { eq, inArray, max, sql } from 'drizzle-orm'
import { consents } from '../../db/schema/opt-outs.ts'
import { facts } from '../../db/schema/tenants.ts'
import { inBatches } from '../../db/batches.ts'
import type { Gateway } from '../gateway.ts'
import { factOf, LEAVE_ACCOUNTS } from '../opt-outs/consent-rows.ts'

/** Rows read in one commit, all by key. */
const ROWS_PER_RANGE = 1000

/** Deletes the consents of accounts that no tenant is connected to anymore. The opt-outs that followed from them stay. */
export async function purgeConsents(gateway: Gateway): Promise<void> {
  const { orm, writer } = gateway.database
  const [marked] = await writer.write([{ sql: LEAVE_ACCOUNTS, args: [] }])
  const left = (marked?.rows ?? []).map((row) => String(row['account_id']))
  if (left.length === 0) return
  // A tenant may connect one again at any time.
  const isLeft = sql`${inArray(consents.accountId, left)} AND account_id NOT IN (SELECT account_id FROM extensions)`
  const [newest] = await orm.select({ seq: max(consents.seq) }).from(consents)
  let from = 0
  await inBatches(gateway, async () => {
    const range = sql`seq > ${from} AND seq <= ${from + ROWS_PER_RANGE}`
    const deleted = await orm
      .delete(consents)
      .where(sql`${range} AND ${isLeft}`)
      .returning({ seq: consents.seq })
    from += ROWS_PER_RANGE
    return { count: deleted.length, last: from > (newest?.seq ?? 0) }
  })
  for (const accountId of left)
    await orm
      .delete(facts)
      .where(sql`${eq(facts.name, factOf(accountId))} AND ${accountId} NOT IN (SELECT account_id FROM extensions)`)
}
