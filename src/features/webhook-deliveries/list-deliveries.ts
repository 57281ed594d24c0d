import { type SQL, and, count, desc, eq, gte, isNotNull, lte } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { apps } from '../../db/schema/tenants.ts'
import { deliveries, triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'
import type { DeliveriesQuery, DeliveryAttempt } from './schemas.ts'

export interface DeliveryPage {
  attempts: DeliveryAttempt[]
  total: number
  page: number
  limit: number
}

/** Attempts of the caller's tenant, newest first. Errors: `forbidden` for an app or trigger that is not the tenant's. */
export async function listDeliveries(gateway: Gateway, caller: Caller, query: DeliveriesQuery): Promise<DeliveryPage> {
  await demandOwnTargets(gateway, caller, query)
  const { page, limit } = query
  const where = conditions(caller, query)
  const { reads } = gateway.database
  const [counted] = await reads.select({ total: count() }).from(deliveries).where(where)
  const rows = await reads
    .select()
    .from(deliveries)
    .where(where)
    .orderBy(desc(deliveries.attemptedAt), desc(deliveries.seq))
    .limit(limit)
    .offset((page - 1) * limit)
  return { attempts: rows.map(attemptItem), total: counted?.total ?? 0, page, limit }
}

/** A trigger that was removed keeps its log: having attempts of the tenant is proof enough. */
async function demandOwnTargets(
  gateway: Gateway,
  caller: Caller,
  { appId, triggerId }: DeliveriesQuery,
): Promise<void> {
  const { reads } = gateway.database
  if (appId !== undefined) {
    const rows = await reads
      .select({ id: apps.id })
      .from(apps)
      .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
    if (rows.length === 0) throw apiError('forbidden')
  }
  if (triggerId !== undefined) {
    const own = await reads
      .select({ id: triggers.id })
      .from(triggers)
      .where(and(eq(triggers.tenantId, caller.tenantId), eq(triggers.id, triggerId)))
    const logged = await reads
      .select({ id: deliveries.targetId })
      .from(deliveries)
      .where(and(eq(deliveries.tenantId, caller.tenantId), eq(deliveries.targetId, triggerId)))
      .limit(1)
    if (own.length + logged.length === 0) throw apiError('forbidden')
  }
}

function conditions(caller: Caller, query: DeliveriesQuery): SQL | undefined {
  const { appId, triggerId, messageId, outcome, kind } = query
  return and(
    eq(deliveries.tenantId, caller.tenantId),
    isNotNull(deliveries.outcome),
    appId === undefined ? undefined : and(eq(deliveries.kind, 'app'), eq(deliveries.targetId, appId)),
    triggerId === undefined ? undefined : and(eq(deliveries.kind, 'trigger'), eq(deliveries.targetId, triggerId)),
    messageId === undefined ? undefined : eq(deliveries.messageId, messageId),
    outcome === undefined ? undefined : eq(deliveries.outcome, outcome),
    kind === undefined ? undefined : eq(deliveries.kind, kind),
    query.startDate === undefined ? undefined : gte(deliveries.attemptedAt, query.startDate),
    query.endDate === undefined ? undefined : lte(deliveries.attemptedAt, query.endDate),
  )
}

function attemptItem(row: typeof deliveries.$inferSelect): DeliveryAttempt {
  return {
    tenantId: row.tenantId,
    kind: row.kind,
    ...(row.kind === 'app' ? { appId: row.targetId } : { triggerId: row.targetId }),
    messageId: row.messageId,
    url: row.url,
    outcome: row.outcome ?? 'network_error',
    ...(row.statusCode === null ? {} : { statusCode: row.statusCode }),
    ...(row.errorClass === null ? {} : { errorClass: row.errorClass }),
    ...(row.errorMessage === null ? {} : { errorMessage: row.errorMessage }),
    ...(row.responseSnippet === null ? {} : { responseSnippet: row.responseSnippet }),
    durationMs: row.durationMs ?? 0,
    attemptedAt: isoTime(row.attemptedAt),
    deliveryId: row.deliveryId,
    attemptNumber: 1,
    correlationId: row.correlationId,
  }
}
