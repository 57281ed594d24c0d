import { asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { TENANT_ID } from '../core/ids.ts'
import { isPrintable } from '../core/printable.ts'
import { tenants } from '../db/schema/tenants.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Gateway } from '../gateway.ts'

export interface TenantItem {
  tenantId: string
  name: string
  status: 'active' | 'suspended' | 'inactive'
}

export const tenantId = z.string().regex(TENANT_ID, 'Invalid tenantId format')
const BAD_NAME = 'name must be 1-100 characters'
const tenantName = z
  .string()
  .trim()
  .min(1, BAD_NAME)
  .max(100, BAD_NAME)
  .refine((name) => isPrintable(name) && name.isWellFormed(), BAD_NAME)

export const CreateTenant = z.object({ name: tenantName })
export const SetTenantStatus = z.object({ tenantId, status: z.enum(['active', 'suspended', 'inactive']) })

export async function createTenant(gateway: Gateway, input: z.output<typeof CreateTenant>): Promise<TenantItem> {
  const item: TenantItem = { tenantId: gateway.ids.of('tenant'), name: input.name, status: 'active' }
  const now = gateway.clock.now()
  const { tenantId: id, name, status } = item
  await gateway.database.writer.write([
    statementOf(build.insert(tenants).values({ id, name, status, createdAt: now, updatedAt: now })),
  ])
  return item
}

export async function listTenants(gateway: Gateway): Promise<TenantItem[]> {
  const rows = await gateway.database.reads.select().from(tenants).orderBy(asc(tenants.createdAt), asc(tenants.id))
  return rows.map((row) => ({ tenantId: row.id, name: row.name, status: row.status }))
}

/** Changes the status of a tenant. It takes effect at once for its keys, queued messages and open sockets. */
export async function setTenantStatus(gateway: Gateway, input: z.output<typeof SetTenantStatus>): Promise<TenantItem> {
  const changes = { status: input.status, updatedAt: gateway.clock.now() }
  await gateway.database.writer.write([
    statementOf(build.update(tenants).set(changes).where(eq(tenants.id, input.tenantId))),
  ])
  gateway.keys.forget()
  gateway.directory.forget(input.tenantId)
  // Deliveries wait while the tenant is suspended, and are dropped when it is inactive.
  gateway.jobs.tenantFreed(input.tenantId)
  if (input.status === 'active') gateway.sending.wake(input.tenantId)
  else gateway.hub.revoke({ tenantId: input.tenantId })
  return readTenant(gateway, input.tenantId)
}

export async function readTenant(gateway: Gateway, id: string): Promise<TenantItem> {
  const [row] = await gateway.database.reads.select().from(tenants).where(eq(tenants.id, id))
  if (row === undefined) throw new ApiError('not_found', `There is no tenant ${id}: list them with: sgw tenant list`)
  return { tenantId: row.id, name: row.name, status: row.status }
}
