import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Sgw } from '../../../client/client.ts'
import type { Range } from '../overview/ranges.ts'
import { readTenants } from '../setup/calls.ts'
import { operator } from '../state/caller.ts'
import { type Reading, keepReading } from '../state/keep-reading.ts'
import { isFirstLoadOver } from '../state/live.ts'
import { type AllOverview, readOverview } from './all-overview.ts'

/** What a tenant has: active apps, and extensions that are not revoked. */
export interface Has {
  apps: number
  extensions: number
}

/** Everything that the page shows at the same time. */
export interface Known {
  overview: AllOverview
  range: Range
  readAt: number
  /** By tenant. If there are many tenants, this is known only after the first load. */
  has: ReadonlyMap<string, Has>
  /** How many messages of each tenant waited at this reading, including those that were being sent. */
  waiting: ReadonlyMap<string, number>
}

/** Alerts have no event, and each event belongs to one tenant. */
const READ_EVERY_MS = 10_000
const READ_AFTER_EVENT_MS = 5000
/** The apps and extensions of tenants change rarely. */
const HAS_EVERY_MS = 60_000
const PAGE = 100

/** Reads all tenants while they are shown. The figures of another range stay until the new ones are read. */
export function useReading(range: Range): Reading<Known> | null {
  const sgw = operator.value
  const last = useRef<Known | null>(null)
  const reading = useMemo(() => sgw && follow(sgw, range, last), [sgw, range])
  useEffect(() => () => reading?.stop(), [reading])
  last.current = reading?.value.value ?? null
  return reading
}

function follow(sgw: Sgw, range: Range, last: { current: Known | null }): Reading<Known> {
  let has = last.current?.has ?? new Map<string, Has>()
  let hasAt = -Infinity
  const read = async (): Promise<Known> => {
    const readAt = Date.now()
    const isDue = readAt - hasAt >= HAS_EVERY_MS
    const [overview, known] = await Promise.all([readOverview(sgw, range.hours), isDue ? readHas(sgw) : has])
    // They are read again until all are known.
    if (isDue && known.size >= overview.total) hasAt = readAt
    has = known
    const waiting = new Map(overview.tenants.map((tenant) => [tenant.tenantId, tenant.waiting]))
    return { overview: settled(overview, last.current?.waiting), range, readAt, has, waiting }
  }
  return keepReading({ read, known: last.current, afterEventMs: READ_AFTER_EVENT_MS, everyMs: READ_EVERY_MS })
}

/** The first load reads one page, so that it stays small. */
async function readHas(sgw: Sgw): Promise<Map<string, Has>> {
  const first = await readTenants(sgw, 1)
  const pages = isFirstLoadOver.peek() ? Math.ceil(first.total / PAGE) : 1
  const rest = await Promise.all(Array.from({ length: pages - 1 }, (_, index) => readTenants(sgw, index + 2)))
  const all = [first, ...rest].flatMap(({ tenants }) => tenants)
  return new Map(all.map(({ tenantId, apps, extensions }) => [tenantId, { apps, extensions }]))
}

/** Messages that are being sent count as waiting. Only a message that waits in two readings is trouble. */
function settled(overview: AllOverview, before: Known['waiting'] | undefined): AllOverview {
  const tenants = overview.tenants.map((tenant) => ({
    ...tenant,
    waiting: Math.min(tenant.waiting, before?.get(tenant.tenantId) ?? Infinity),
  }))
  return { ...overview, tenants }
}
