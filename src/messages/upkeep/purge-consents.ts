import { eq, inArray, max, sql } from 'drizzle-orm'
import { consents } from '../../db/schema/opt-outs.ts'
import { facts } from '../../db/schema/tenants.ts'
import { inBatches } from '../../db/batches.ts'
import type { Gateway } from '../gateway.ts'
import { factOf, LEFT_ACCOUNTS } from '../opt-outs/consent-rows.ts'

/** Rows that are read in one commit, all by their key. */
const ROWS_PER_RANGE = 1000

/** Deletes the consents of accounts that no tenant is connected to any more. What follows from them for conversations stays. */
export async function purgeConsents(gateway: Gateway): Promise<void> {
  const { orm, gate } = gateway.database
  const { rows } = await gate.execute(LEFT_ACCOUNTS)
  const left = rows.map((row) => String(row['account_id']))
  if (left.length === 0) return
  const [newest] = await orm.select({ seq: max(consents.seq) }).from(consents)
  let from = 0
  await inBatches(gateway, async () => {
    const range = sql`seq > ${from} AND seq <= ${from + ROWS_PER_RANGE}`
    const deleted = await orm
      .delete(consents)
      .where(sql`${range} AND ${inArray(consents.accountId, left)}`)
      .returning({ seq: consents.seq })
    from += ROWS_PER_RANGE
    return { count: deleted.length, last: from > (newest?.seq ?? 0) }
  })
  for (const accountId of left) await orm.delete(facts).where(eq(facts.name, factOf(accountId)))
}
