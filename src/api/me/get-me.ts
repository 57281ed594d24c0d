import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { MAX_MEDIA_BYTES } from '../../core/limits.ts'
import { apps, tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { RELEASE, VERSION } from '../../core/version.ts'

export const Me = z
  .object({
    appId: z.string().nullable(),
    tenantId: z.string().nullable(),
    name: z.string().nullable().meta({ description: "The app's" }),
    tenantName: z.string().nullable(),
    operator: z.boolean().meta({ description: 'Whether the caller is an operator and not an app' }),
    version: z.string().meta({ description: "The gateway's" }),
    development: z.boolean().meta({ description: 'Whether the gateway runs outside of production' }),
    mediaLimit: z
      .int()
      .optional()
      .meta({ description: 'How many bytes a file to send may have; 0: nothing can be uploaded' }),
  })
  .meta({
    id: 'Me',
    example: {
      appId: 'app_0123456789abcdef',
      tenantId: 'tenant_0123456789abcdef',
      name: 'Shop',
      tenantName: 'Example Ltd',
      operator: false,
      version: RELEASE,
      development: false,
      mediaLimit: MAX_MEDIA_BYTES,
    },
  })
export type Me = z.infer<typeof Me>

/** Returns the app that the key belongs to, or that an operator acts as; of an operator without one, null. */
export async function getMe(gateway: Gateway, caller: Caller | null, operator: boolean): Promise<Me> {
  const row = caller === null ? undefined : await readNames(gateway, caller)
  return {
    appId: caller?.appId ?? null,
    tenantId: caller?.tenantId ?? null,
    name: row?.name ?? null,
    tenantName: row?.tenantName ?? null,
    operator,
    version: VERSION,
    development: !gateway.config.production,
    mediaLimit: gateway.media.isOn ? MAX_MEDIA_BYTES : 0,
  }
}

async function readNames(
  { database }: Gateway,
  { appId, tenantId }: Caller,
): Promise<{ name: string; tenantName: string } | undefined> {
  const [row] = await database.orm
    .select({ name: apps.name, tenantName: tenants.name })
    .from(apps)
    .innerJoin(tenants, eq(tenants.id, apps.tenantId))
    .where(and(eq(apps.tenantId, tenantId), eq(apps.id, appId)))
  return row
}
