import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { MAX_MEDIA_BYTES } from '../../core/limits.ts'
import { apps, tenants } from '../../db/schema/tenants.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { RELEASE, VERSION } from '../../core/version.ts'
import { time } from '../fields/answer-fields.ts'
import { TenantStatus } from '../fields/named-enums.ts'

export const Me = z
  .object({
    appId: z.string().nullable(),
    tenantId: z.string().nullable(),
    name: z.string().nullable().meta({ description: "The app's" }),
    tenantName: z.string().nullable(),
    tenantStatus: TenantStatus.nullable().optional(),
    tenantStatusSince: time.nullable().optional(),
    operator: z.boolean().meta({ description: 'Whether the caller is an operator and not an app' }),
    version: z.string().meta({ description: "The gateway's" }),
    development: z.boolean().meta({ description: 'Whether the gateway runs outside of production' }),
    mediaLimit: z
      .int()
      .optional()
      .meta({ description: 'The maximum size in bytes of a file to send; 0 if nothing can be uploaded' }),
  })
  .meta({
    id: 'Me',
    example: {
      appId: 'app_0123456789abcdef',
      tenantId: 'tenant_0123456789abcdef',
      name: 'Shop',
      tenantName: 'Example Ltd',
      tenantStatus: 'active',
      tenantStatusSince: '2026-11-02T09:00:00.000Z',
      operator: false,
      version: RELEASE,
      development: false,
      mediaLimit: MAX_MEDIA_BYTES,
    },
  })
export type Me = z.infer<typeof Me>

/** Returns the app that the key belongs to, or that an operator acts as; of an operator without one, null. */
export async function getMe(gateway: Gateway, caller: Caller | null, operator: boolean): Promise<Me> {
  const row = caller === null ? undefined : await readOwner(gateway, caller)
  return {
    appId: caller?.appId ?? null,
    tenantId: caller?.tenantId ?? null,
    name: row?.name ?? null,
    tenantName: row?.tenantName ?? null,
    tenantStatus: row?.tenantStatus ?? null,
    tenantStatusSince: row === undefined ? null : isoTime(row.since),
    operator,
    version: VERSION,
    development: !gateway.config.production,
    mediaLimit: gateway.media.isOn ? MAX_MEDIA_BYTES : 0,
  }
}

async function readOwner({ database }: Gateway, { appId, tenantId }: Caller) {
  const [row] = await database.orm
    .select({ name: apps.name, tenantName: tenants.name, tenantStatus: tenants.status, since: tenants.updatedAt })
    .from(apps)
    .innerJoin(tenants, eq(tenants.id, apps.tenantId))
    .where(and(eq(apps.tenantId, tenantId), eq(apps.id, appId)))
  return row
}
