import { useRef } from 'preact/hooks'
import type { Range } from '../overview/ranges.ts'
import { asOperator, operator, readTenants } from '../state/caller.ts'
import { type Reading, useReading } from '../state/keep-reading.ts'
import { isFirstLoadOver } from '../state/live.ts'
import type { TenantItem } from '../state/operator.ts'
import type { AllOverview } from './all-overview.ts'

/** What a tenant has: active apps, and extensions that are not revoked. */
export type Has = Pick<TenantItem, 'apps' | 'extensions'>

/** Everything that the page shows at the same time. */
export interface Known {
  overview: AllOverview
  range: Range
  readAt: number
  /** By tenant. If there are many tenants, this is known only after the first load. */
  has: ReadonlyMap<string, Has>
  hasReadAt: number
  /** How many messages of each tenant waited at this reading, including those that were being sent. */
  waiting: ReadonlyMap<string, number>
}

/** Alerts have no event, and each event belongs to one tenant. */
const READ_EVERY_MS = 10_000
const READ_AFTER_EVENT_MS = 5000
/** The apps and extensions of tenants change rarely. */
const HAS_EVERY_MS = 60_000
const PAGE = 100

export function useAll(range: Range): Reading<Known> {
  const last = useRef<Known | null>(null)
  const read = async (): Promise<Known> => (last.current = await readKnown(range, last.current))
  return useReading({ read, everyMs: READ_EVERY_MS, afterEventMs: READ_AFTER_EVENT_MS }, [operator.value, range])
}

async function readKnown(range: Range, last: Known | null): Promise<Known> {
  const readAt = Date.now()
  // They are read again until all are known.
  const isDue = last === null || last.has.size < last.overview.total || readAt - last.hasReadAt >= HAS_EVERY_MS
  const [overview, has] = await Promise.all([
    asOperator().request<AllOverview>('GET', '/v1/operator/overview', { query: { hours: range.hours } }),
    isDue ? readHas() : last.has,
  ])
  const hasReadAt = isDue ? readAt : last.hasReadAt
  const waiting = new Map(overview.tenants.map((tenant) => [tenant.tenantId, tenant.waiting]))
  return { overview: steady(overview, last?.waiting), range, readAt, has, hasReadAt, waiting }
}

/** The first load reads one page, so that it stays small. */
async function readHas(): Promise<Map<string, Has>> {
  const first = await readTenants()
  const pages = isFirstLoadOver.peek() ? Math.ceil(first.total / PAGE) : 1
  const rest = await Promise.all(Array.from({ length: pages - 1 }, (_, index) => readTenants(index + 2)))
  return new Map([first, ...rest].flatMap(({ tenants }) => tenants.map((tenant) => [tenant.tenantId, tenant])))
}

/** Messages that are being sent count as waiting. Only a message that waits in two readings is trouble. */
function steady(overview: AllOverview, before: Known['waiting'] | undefined): AllOverview {
  const tenants = overview.tenants.map((tenant) => ({
    ...tenant,
    waiting: Math.min(tenant.waiting, before?.get(tenant.tenantId) ?? Infinity),
  }))
  return { ...overview, tenants }
}
