import { and, count, eq, ne, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { isoTime } from '../core/clock.ts'
import { apiError } from '../core/errors.ts'
import { tenants } from '../db/schema/tenants.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { Tenant, TenantBody, TenantList, TenantStatusBody, TenantsQuery } from './schemas.ts'

export async function createTenant(gateway: Gateway, { name }: z.output<typeof TenantBody>): Promise<Tenant> {
  const item = { tenantId: gateway.ids.of('tenant'), name, status: 'active' } as const
  const now = gateway.clock.now()
  await gateway.database.orm
    .insert(tenants)
    .values({ id: item.tenantId, name, status: item.status, createdAt: now, updatedAt: now })
  return item
}

/** A page of all tenants, oldest first. */
export async function listTenants(
  { database: { orm } }: Gateway,
  { page, limit }: z.output<typeof TenantsQuery>,
): Promise<TenantList> {
  const rows = await orm
    .select({ tenant: tenants, apps: ACTIVE_APPS, extensions: LIVE_EXTENSIONS })
    .from(tenants)
    .orderBy(tenants.createdAt, tenants.id)
    .limit(limit)
    .offset((page - 1) * limit)
  const [total] = await orm.select({ count: count() }).from(tenants)
  return {
    tenants: rows.map(({ tenant: { id, name, status, createdAt }, apps, extensions }) => ({
      tenantId: id,
      name,
      status,
      apps,
      extensions,
      createdAt: isoTime(createdAt),
    })),
    total: total?.count ?? 0,
    page,
    limit,
  }
}

const ACTIVE_APPS = sql<number>`(SELECT count(*) FROM apps WHERE apps.tenant_id = "tenants"."id" AND apps.is_active = 1)`
const LIVE_EXTENSIONS = sql<number>`(SELECT count(*) FROM extensions WHERE extensions.tenant_id = "tenants"."id" AND extensions.status != 'revoked')`

/** Changes the status of a tenant. It takes effect immediately for its keys, queued messages and open sockets. Errors: `tenantNotFound`. */
export async function setTenantStatus(
  gateway: Gateway,
  { tenantId, status }: z.output<typeof TenantStatusBody> & { tenantId: string },
): Promise<Tenant> {
  const changes = { status, updatedAt: gateway.clock.now() }
  // A tenant that already has the status keeps its start time.
  const changed = and(eq(tenants.id, tenantId), ne(tenants.status, status))
  await gateway.database.orm.update(tenants).set(changes).where(changed)
  gateway.keys.forget()
  gateway.directory.forget(tenantId)
  // Deliveries wait while the tenant is suspended, and are dropped when it is inactive.
  gateway.jobs.tenantFreed(tenantId)
  if (status === 'active') gateway.sending.wake(tenantId)
  else gateway.hub.revoke({ tenantId })
  return readTenant(gateway, tenantId)
}

/** Errors: `tenantNotFound`. */
export async function readTenant({ database }: Gateway, id: string): Promise<Tenant> {
  const [row] = await database.orm.select().from(tenants).where(eq(tenants.id, id))
  if (row === undefined) throw apiError('tenantNotFound')
  return { tenantId: row.id, name: row.name, status: row.status }
}
