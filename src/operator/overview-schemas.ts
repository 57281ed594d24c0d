import { z } from 'zod'
import { time } from '../api/fields/answer-fields.ts'
import { sizeUpTo } from '../api/http/list-query.ts'
import { MAX_LISTED, MAX_TENANTS_OVERVIEW_HOURS, MIN_OVERVIEW_HOURS } from '../core/limits.ts'
import { Alert, Tenant } from './schemas.ts'

export const TenantsOverviewQuery = z.object({
  hours: sizeUpTo(MAX_TENANTS_OVERVIEW_HOURS, MIN_OVERVIEW_HOURS, MIN_OVERVIEW_HOURS),
})
export type TenantsOverviewQuery = z.output<typeof TenantsOverviewQuery>

const TenantOverview = Tenant.extend({
  worst: Alert.nullable().meta({
    description: 'The most urgent alert of the tenant that fires and is not muted; null if there is none',
  }),
  sent: z.int(),
  received: z.int(),
  failed: z.int().meta({ description: 'Cancelled ones included' }),
  undelivered: z.int(),
  waiting: z.int().meta({ description: 'Messages that wait now, or are being sent; scheduled ones do not count' }),
  neverArrived: z.int().meta({ description: 'Webhook deliveries of the last 30 days that never arrived' }),
  buckets: z.array(z.int()).meta({ description: '24 counts of what was sent and received, the oldest first' }),
}).meta({ id: 'TenantOverview' })

export const TenantsOverview = z
  .object({
    from: time,
    to: time,
    total: z.int().meta({ description: 'How many tenants there are' }),
    alerts: z.array(Alert).meta({ description: 'What needs attention now, muted alerts included' }),
    tenants: z.array(TenantOverview).meta({
      description: `At most ${MAX_LISTED}: first those with a \`worst\`, then those with the most sent and received messages`,
    }),
  })
  .meta({ id: 'TenantsOverview' })
export type TenantsOverview = z.infer<typeof TenantsOverview>
