import type { Alert } from '../state/alert.ts'
import type { Tenant } from '../state/operator.ts'

/** How all tenants are doing, from `GET /v1/operator/overview`. */
export interface AllOverview {
  /** The start of the first bucket. */
  from: string
  to: string
  /** Of all tenants; at most a thousand are listed. */
  total: number
  alerts: Alert[]
  tenants: TenantFigures[]
}

export interface TenantFigures extends Tenant {
  worst: Alert | null
  sent: number
  received: number
  failed: number
  undelivered: number
  waiting: number
  neverArrived: number
  /** 24 counts of sent and received messages, oldest first. */
  buckets: number[]
}
