import { asc, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { MAX_LISTED } from '../../core/limits.ts'
import { triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Trigger } from './schemas.ts'

/**
 * The tenant's triggers, oldest first, at most `MAX_LISTED`. A tenant that an older release let create more sees the
 * others once it deletes some.
 */
export async function listTriggers(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
): Promise<{ triggers: Trigger[] }> {
  const rows = await gateway.database.orm
    .select()
    .from(triggers)
    .where(eq(triggers.tenantId, caller.tenantId))
    .orderBy(asc(triggers.seq))
    .limit(MAX_LISTED)
  return {
    triggers: rows.map((row) => ({
      triggerId: row.id,
      callbackUrl: row.callbackUrl,
      createdAt: isoTime(row.createdAt),
    })),
  }
}
