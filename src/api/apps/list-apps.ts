import { and, asc, desc, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apps } from '../../db/schema/tenants.ts'
import { MAX_LISTED } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type App, appItem } from './app.ts'

/** The apps of the tenant, oldest first, including inactive ones. */
export async function listApps(gateway: Gateway, caller: Pick<Caller, 'tenantId'>): Promise<{ apps: App[] }> {
  return { apps: (await readApps(gateway, caller)).map(appItem) }
}

/** Reads at most `MAX_LISTED` active apps and the newest `MAX_LISTED` of all, because inactive apps are never deleted. */
async function readApps(
  { database: { orm } }: Gateway,
  caller: Pick<Caller, 'tenantId'>,
): Promise<(typeof apps.$inferSelect)[]> {
  const active = await orm
    .select()
    .from(apps)
    .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.isActive, true)))
    .orderBy(asc(apps.seq))
    .limit(MAX_LISTED)
  const newest = await orm
    .select()
    .from(apps)
    .where(eq(apps.tenantId, caller.tenantId))
    .orderBy(desc(apps.seq))
    .limit(MAX_LISTED)
  const bySeq = new Map([...active, ...newest].map((row) => [row.seq, row]))
  return [...bySeq.values()].toSorted((a, b) => a.createdAt - b.createdAt || a.seq - b.seq)
}
