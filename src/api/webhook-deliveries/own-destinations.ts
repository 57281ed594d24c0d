import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { apps } from '../../db/schema/tenants.ts'
import { triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'

interface Destinations {
  appId?: string | undefined
  triggerId?: string | undefined
}

/**
 * Checks that destinations belong to the tenant. A deleted trigger belongs to it if the tenant's log has attempts of the trigger.
 * Errors: `forbidden`.
 */
export async function requireOwnDestinations(
  gateway: Gateway,
  caller: Caller,
  { appId, triggerId }: Destinations,
): Promise<void> {
  const { orm } = gateway.database
  if (appId !== undefined) {
    const rows = await orm
      .select({ id: apps.id })
      .from(apps)
      .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
    if (rows.length === 0) throw apiError('forbidden')
  }
  if (triggerId !== undefined) {
    const own = await orm
      .select({ id: triggers.id })
      .from(triggers)
      .where(and(eq(triggers.tenantId, caller.tenantId), eq(triggers.id, triggerId)))
    if (own.length === 0 && !(await hasAttempts(gateway, caller, triggerId))) throw apiError('forbidden')
  }
}

const ATTEMPT = `SELECT 1 FROM webhook_attempts WHERE tenant_id = ?1 AND target_id = ?2 AND kind = 'trigger' AND outcome IS NOT NULL LIMIT 1`

const hasAttempts = async ({ database }: Gateway, { tenantId }: Caller, triggerId: string): Promise<boolean> =>
  (await database.reader.longRead(tenantId, ATTEMPT, [tenantId, triggerId])).length > 0
