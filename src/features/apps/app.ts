import { z } from 'zod'
import { isoTime } from '../../core/clock.ts'
import type { apps } from '../../db/schema/tenants.ts'

const timestamp = z.string().meta({ format: 'date-time' })

/** An app as the API returns it. */
export const App = z.object({
  appId: z.string(),
  tenantId: z.string(),
  name: z.string(),
  webhookUrl: z.string().nullable(),
  role: z.enum(['app']),
  isActive: z.boolean(),
  apiKeyPrefix: z.string(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
})
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
