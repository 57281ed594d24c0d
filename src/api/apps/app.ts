import { z } from 'zod'
import { appId, tenantId, time } from '../fields/answer-fields.ts'
import { isoTime } from '../../core/clock.ts'
import type { apps } from '../../db/schema/tenants.ts'

/** An app as the API returns it. */
export const App = z
  .object({
    appId,
    tenantId,
    name: z.string().meta({ example: 'Shop' }),
    webhookUrl: z.string().nullable().meta({ example: 'https://example.com/sms' }),
    role: z.enum(['app']),
    isActive: z.boolean(),
    apiKeyPrefix: z.string().meta({ example: 'sgw_Qm3xT9aL' }),
    lastUsedAt: time.nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'App' })
export type App = z.infer<typeof App>

export function appItem(row: typeof apps.$inferSelect): App {
  return {
    appId: row.id,
    tenantId: row.tenantId,
    name: row.name,
    webhookUrl: row.webhookUrl,
    role: row.role,
    isActive: row.isActive,
    apiKeyPrefix: row.keyPrefix,
    lastUsedAt: row.lastUsedAt === null ? null : isoTime(row.lastUsedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}
