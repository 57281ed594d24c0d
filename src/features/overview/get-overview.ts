import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { HALF_HOUR_MS, HOUR_MS, OVERVIEW_BUCKETS } from '../../core/limits.ts'
import { itemOf, timeField } from '../../db/lists/item.ts'
import { messages } from '../../db/schema/messages.ts'
import type { Gateway } from '../../gateway.ts'
import { waitingOfTenant } from '../../sending/waiting-of-tenant.ts'
import { percentile } from '../../usage/latency.ts'
import {
  type Bucket,
  type DestinationUsage,
  addTotals,
  halfHourAt,
  readBuckets,
  readDestinations,
  readErrors,
  readTotals,
} from '../../usage/overview.ts'
import type { Overview } from './schemas.ts'

/** Returns the tenant's last hours in 48 equal buckets of whole half hours, at least `hours`, and its waiting messages. */
export async function getOverview(gateway: Gateway, { tenantId }: Caller, hours: number): Promise<Overview> {
  const now = gateway.clock.now()
  const perBucket = Math.ceil((hours * HOUR_MS) / HALF_HOUR_MS / OVERVIEW_BUCKETS)
  const current = halfHourAt(now)
  const since = (Math.floor(current / perBucket) - OVERVIEW_BUCKETS + 1) * perBucket
  const range = { since, end: current + 1 }
  const before = { since: 2 * range.since - range.end, end: range.since }
  const buckets = await readBuckets(gateway, tenantId, range, perBucket)
  const previous = await readTotals(gateway, tenantId, before)
  const latencies = buckets.flatMap((bucket) => bucket.latencies)
  return {
    from: isoTime(since * HALF_HOUR_MS),
    to: isoTime(now),
    totals: addTotals(buckets.map(({ totals }) => totals)),
    previous,
    buckets: buckets.map(bucketOf),
    p50Ms: percentile(latencies, 0.5),
    p95Ms: percentile(latencies, 0.95),
    ...(await readQueue(gateway, tenantId)),
    errors: (await readErrors(gateway, tenantId, range)).map((each) => ({ ...each, lastAt: isoTime(each.lastAt) })),
    destinations: (await readDestinations(gateway, tenantId, range)).map(destinationOf),
  }
}

const bucketOf = ({ first, totals: { sent, failed, received } }: Bucket): Overview['buckets'][number] => ({
  at: isoTime(first * HALF_HOUR_MS),
  sent,
  failed,
  received,
})

/** Queues that are read in one tick of the event loop: about 2 ms. A tenant may have a queue for each message. */
const QUEUES_PER_TURN = 50

const destinationOf = (destination: DestinationUsage): Overview['destinations'][number] => {
  const { targetId, kind, url, success, failed, durations } = destination
  const id = kind === 'app' ? { appId: targetId } : { triggerId: targetId }
  return { url, kind, ...id, success, failed, p95Ms: percentile(durations, 0.95) }
}

const CREATED = itemOf({ createdAt: timeField(messages.createdAt) })

/** When the first queued message of a number began to wait. A scheduled one waits from its `sendAt` on. */
const OLDEST = `SELECT max(messages.created_at, coalesce(messages.send_at, 0)) AS at FROM jobs
  JOIN messages ON messages.id = jobs.subject AND messages.tenant_id = jobs.tenant_id AND messages.status = 'queued'
  WHERE jobs.kind = 'send' AND jobs.lane = ?2 AND jobs.tenant_id = ?1 ORDER BY jobs.seq LIMIT 1`

async function readQueue(gateway: Gateway, tenantId: string) {
  const { database, sending, turns } = gateway
  const { total } = await database.lists.page({
    list: 'messages',
    tenantId,
    equal: { status: 'queued' },
    prefix: null,
    since: 0,
    until: Number.MAX_SAFE_INTEGER,
    offset: 0,
    limit: 1,
    item: CREATED,
  })
  const oldest = await readOldest(gateway, tenantId)
  const { scheduled, waiting } = await waitingOfTenant(sending, turns, tenantId)
  return {
    queued: total,
    scheduled,
    oldestQueuedAt: oldest === Infinity ? null : isoTime(oldest),
    waiting: waiting.map(({ reason, extensionId, until, count }) => ({
      reason,
      ...(extensionId === null ? {} : { extensionId }),
      ...(until === null ? {} : { until: isoTime(until) }),
      count,
    })),
  }
}

/** When the tenant's oldest queued message began to wait, epoch milliseconds; Infinity if there is none. */
async function readOldest({ database, sending, turns }: Gateway, tenantId: string): Promise<number> {
  let oldest = Infinity
  for (const [index, { number }] of [...sending.scheduler.queues.ofTenant(tenantId)].entries()) {
    const { rows } = await database.gate.execute({ sql: OLDEST, args: [tenantId, number] })
    oldest = Math.min(oldest, Number(rows[0]?.['at'] ?? Infinity))
    if (index % QUEUES_PER_TURN === QUEUES_PER_TURN - 1) await turns.next(tenantId)
  }
  return oldest
}
