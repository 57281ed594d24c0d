import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { HALF_HOUR_MS } from '../../core/limits.ts'
import { failureOf } from '../../core/message-failure.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { readBacklog } from '../../messages/gateway-state/tenant/backlog.ts'
import { waitingOfTenant } from '../../messages/gateway-state/tenant/waiting.ts'
import { type DestinationState, readDestinationStates } from '../../messages/usage/destination-rows.ts'
import { percentile } from '../../messages/usage/latency.ts'
import {
  type Bucket,
  type DestinationUsage,
  type ErrorUsage,
  type HalfHours,
  addTotals,
  overviewRange,
  readBuckets,
  readDestinations,
  readErrors,
  readTotals,
} from '../../messages/usage/overview.ts'
import { type NeverArrived, readNeverArrived } from '../../messages/webhooks/never-arrived.ts'
import type { Overview, OverviewQuery } from './schemas.ts'

/** Returns the tenant's last hours in 48 equal buckets of whole half hours, at least `hours`, and its waiting messages. */
export async function getOverview(
  gateway: Gateway,
  { tenantId }: Caller,
  { hours, include }: OverviewQuery,
): Promise<Overview> {
  const now = gateway.clock.now()
  const { range, perBucket } = overviewRange(now, hours)
  const before = { since: 2 * range.since - range.end, end: range.since }
  const buckets = await readBuckets(gateway, tenantId, range, perBucket)
  const previous = await readTotals(gateway, tenantId, before)
  const latencies = buckets.flatMap((bucket) => bucket.latencies)
  return {
    from: isoTime(range.since * HALF_HOUR_MS),
    to: isoTime(now),
    totals: addTotals(buckets.map(({ totals }) => totals)),
    previous,
    buckets: buckets.map(bucketOf),
    p50Ms: percentile(latencies, 0.5),
    p95Ms: percentile(latencies, 0.95),
    ...(await readQueue(gateway, tenantId)),
    errors: (await readErrors(gateway, tenantId, range)).map(errorOf),
    destinations: await destinationsOf(gateway, tenantId, range, include === 'nextAttempt'),
  }
}

const bucketOf = ({ first, totals: { sent, failed, received } }: Bucket): Overview['buckets'][number] => ({
  at: isoTime(first * HALF_HOUR_MS),
  sent,
  failed,
  received,
})

const errorOf = ({ error, count, lastAt }: ErrorUsage): Overview['errors'][number] => ({
  error,
  failure: failureOf(error),
  count,
  lastAt: isoTime(lastAt),
})

async function destinationsOf(
  gateway: Gateway,
  tenantId: string,
  range: HalfHours,
  withNext: boolean,
): Promise<Overview['destinations']> {
  const lost = new Map((await readNeverArrived(gateway, tenantId)).map((each) => [each.targetId, each]))
  const used = await readDestinations(gateway, tenantId, range)
  const states = await readDestinationStates(gateway, tenantId)
  const { clock } = gateway
  // Due times are steady, so they stay right if the wall clock is changed.
  const steadyToWallMs = withNext ? clock.now() - clock.steady() : null
  const ids = new Set(used.map(({ targetId }) => targetId))
  const unused = [...lost.values()].filter(({ targetId }) => !ids.has(targetId))
  return [...unused.map((each) => ({ ...each, success: 0, failed: 0, durations: [] })), ...used].map((destination) => ({
    ...destinationOf(destination, states.get(destination.targetId), steadyToWallMs),
    ...neverArrivedOf(lost.get(destination.targetId)),
  }))
}

const neverArrivedOf = (lost: NeverArrived | undefined) => ({
  neverArrived: lost?.count ?? 0,
  neverArrivedSince: lost === undefined ? null : isoTime(lost.since),
})

type DestinationFigures = Omit<Overview['destinations'][number], 'neverArrived' | 'neverArrivedSince'>

function destinationOf(
  { targetId, kind, url, success, failed, durations }: DestinationUsage,
  state: DestinationState | undefined,
  /** Null if the next attempt was not requested. */
  steadyToWallMs: number | null,
): DestinationFigures {
  const id = kind === 'app' ? { appId: targetId } : { triggerId: targetId }
  const { failingSince = null, failures = 0, lastOutcome = null, lastStatusCode = null, nextDueAt = null } = state ?? {}
  return {
    url,
    kind,
    ...id,
    success,
    failed,
    p95Ms: percentile(durations, 0.95),
    failingSince: failingSince === null ? null : isoTime(failingSince),
    failures,
    ...(nextDueAt === null || steadyToWallMs === null
      ? {}
      : { nextAttemptAt: isoTime(Math.round(nextDueAt + steadyToWallMs)) }),
    lastOutcome,
    ...(lastStatusCode === null ? {} : { lastStatusCode }),
  }
}

async function readQueue({ database, sending }: Gateway, tenantId: string) {
  const numbers = [...sending.scheduler.queues.ofTenant(tenantId)].map(({ number }) => number)
  const backlog = await readBacklog(database.reader, tenantId, numbers)
  const waiting = await waitingOfTenant(sending, tenantId, backlog)
  return {
    queued: backlog.queued,
    scheduled: backlog.scheduled,
    oldestQueuedAt: backlog.oldestQueuedAt === null ? null : isoTime(backlog.oldestQueuedAt),
    waiting: waiting.map(({ reason, extensionId, until, began, count, since }) => ({
      reason,
      ...(extensionId === null ? {} : { extensionId }),
      ...(until === null ? {} : { until: isoTime(until) }),
      count,
      since: isoTime(since),
      began: began === null ? null : isoTime(began),
    })),
  }
}
