import { z } from 'zod'
import { tenantId } from '../api/fields/answer-fields.ts'
import { textFilter } from '../api/http/list-query.ts'
import { BAD_PARAMETER } from '../api/http/validated.ts'
import { UsageDay } from '../api/usage/schemas.ts'
import { parseDate } from '../core/date-time.ts'

export const TenantsUsageQuery = z.object({
  month: textFilter
    .refine((month) => month === undefined || parseDate(`${month}-01`) !== null, { error: BAD_PARAMETER })
    .meta({ description: 'A month of UTC days; the current one if absent', example: '2026-11' }),
})
export type TenantsUsageQuery = z.output<typeof TenantsUsageQuery>

const TenantUsageDay = z
  .object({ date: UsageDay.shape.date, tenantId, ...UsageDay.omit({ date: true }).required().shape })
  .meta({ id: 'TenantUsageDay' })
const TenantUsageTotal = TenantUsageDay.omit({ date: true }).meta({ id: 'TenantUsageTotal' })

export const TenantsUsage = z
  .object({ totals: z.array(TenantUsageTotal), days: z.array(TenantUsageDay) })
  .meta({ id: 'TenantsUsage' })
export type TenantsUsage = z.infer<typeof TenantsUsage>
