import { asc, eq } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'
import type { Trigger } from './schemas.ts'

/** The tenant's triggers, oldest first. */
export async function listTriggers(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
): Promise<{ triggers: Trigger[] }> {
  const rows = await gateway.database.reads
    .select()
    .from(triggers)
    .where(eq(triggers.tenantId, caller.tenantId))
    .orderBy(asc(triggers.seq))
  return {
    triggers: rows.map((row) => ({
      triggerId: row.id,
      callbackUrl: row.callbackUrl,
      createdAt: isoTime(row.createdAt),
    })),
  }
}
