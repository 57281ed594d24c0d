import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { apps, tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../gateway.ts'
import { VERSION } from '../../version.ts'

export const Me = z
  .object({
    appId: z.string().nullable(),
    tenantId: z.string().nullable(),
    name: z.string().nullable().meta({ description: "The app's" }),
    tenantName: z.string().nullable(),
    operator: z.boolean().meta({ description: 'Whether the caller is an operator and not an app' }),
    version: z.string().meta({ description: "The gateway's" }),
    development: z.boolean().meta({ description: 'Whether the gateway runs outside of production' }),
  })
  .meta({
    example: {
      appId: 'app_0123456789abcdef',
      tenantId: 'tenant_0123456789abcdef',
      name: 'Shop',
      tenantName: 'Example Ltd',
      operator: false,
      version: VERSION,
      development: false,
    },
  })
export type Me = z.infer<typeof Me>

/** Returns the app that the key belongs to. */
export async function getMe({ database, config }: Gateway, { appId, tenantId }: Caller): Promise<Me> {
  const [row] = await database.reads
    .select({ name: apps.name, tenantName: tenants.name })
    .from(apps)
    .innerJoin(tenants, eq(tenants.id, apps.tenantId))
    .where(and(eq(apps.tenantId, tenantId), eq(apps.id, appId)))
  return {
    appId,
    tenantId,
    name: row?.name ?? null,
    tenantName: row?.tenantName ?? null,
    operator: false,
    version: VERSION,
    development: !config.production,
  }
}
