import { HALF_HOUR_MS, MAX_LISTED, MAX_OVERVIEW_ERRORS } from '../core/limits.ts'
import type { Row } from '../db/connection.ts'
import type { LatencyCount } from './latency.ts'
import { COUNTS } from './roll-up.ts'
import { type HalfHours, type UsageReads, eachSlice, readSlices } from './slices.ts'

export type Totals = Record<(typeof COUNTS)[number], number>

export const halfHourAt = (at: number): number => Math.floor(at / HALF_HOUR_MS)

const SUMS = COUNTS.map((count) => `sum(${count}) AS ${count}`).join(', ')

const bucketsSql = (
  perBucket: number,
): string => `SELECT half_hour / ${perBucket} AS bucket, latency_ms, ${SUMS}, count(*) AS stored
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY 1, 2`

const TOTALS = `SELECT ${SUMS}, count(*) AS stored FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3`

export async function readTotals(reads: UsageReads, tenantId: string, range: HalfHours): Promise<Totals> {
  return addTotals((await readSlices(reads, TOTALS, tenantId, range)).map(totalsOf))
}

/** What a bucket counts, and how long its messages took from `queued` to `sent`. */
export interface Bucket {
  /** Its first half hour. */
  first: number
  totals: Totals
  latencies: LatencyCount[]
}

/** The buckets of a range that begins with one of them. */
export async function readBuckets(
  reads: UsageReads,
  tenantId: string,
  { since, end }: HalfHours,
  perBucket: number,
): Promise<Bucket[]> {
  const buckets = Array.from({ length: Math.ceil((end - since) / perBucket) }, (_, index): Bucket => {
    return { first: since + index * perBucket, totals: totalsOf({}), latencies: [] }
  })
  for (const row of await readSlices(reads, bucketsSql(perBucket), tenantId, { since, end })) {
    const bucket = buckets[Number(row['bucket']) - since / perBucket]
    if (bucket === undefined) continue
    bucket.totals = addTotals([bucket.totals, totalsOf(row)])
    const ms = Number(row['latency_ms'])
    if (ms > 0) bucket.latencies.push({ ms, count: Number(row['sent']) })
  }
  return buckets
}

export const addTotals = (all: readonly Totals[]): Totals =>
  totalsOf(Object.fromEntries(COUNTS.map((count) => [count, all.reduce((sum, each) => sum + each[count], 0)])))

const totalsOf = (row: Readonly<Record<string, unknown>>): Totals =>
  Object.fromEntries(COUNTS.map((count) => [count, Number(row[count] ?? 0)])) as Totals

const ERRORS = `SELECT error, sum(count) AS count, max(last_at) AS last_at, count(*) AS stored FROM usage_errors
  WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY error`

export interface ErrorUsage {
  error: string
  count: number
  /** Epoch milliseconds. */
  lastAt: number
}

/** The most frequent errors of a range. */
export async function readErrors(reads: UsageReads, tenantId: string, range: HalfHours): Promise<ErrorUsage[]> {
  const found = new Map<string, ErrorUsage>()
  for (const row of await readSlices(reads, ERRORS, tenantId, range)) {
    const error = String(row['error'])
    const { count, lastAt } = found.get(error) ?? { count: 0, lastAt: 0 }
    found.set(error, { error, count: count + Number(row['count']), lastAt: Math.max(lastAt, Number(row['last_at'])) })
  }
  return [...found.values()]
    .toSorted((one, other) => other.count - one.count || other.lastAt - one.lastAt)
    .slice(0, MAX_OVERVIEW_ERRORS)
}

/** `url` is that of the newest row: SQLite takes bare columns from the row that has the max(). */
const DESTINATION_SUMS = `SELECT target_id, kind, max(half_hour) AS newest, url, duration_ms, sum(success) AS success, sum(failed) AS failed, count(*) AS stored
  FROM usage_destinations WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY target_id, duration_ms`

export interface DestinationUsage {
  targetId: string
  kind: 'app' | 'trigger'
  url: string
  success: number
  failed: number
  durations: LatencyCount[]
}

interface Destination extends DestinationUsage {
  /** The half hour of its latest attempt. */
  newest: number
}

/** Reads the webhook attempts of a range, by destination. Of very many, it returns those that were used last. */
export async function readDestinations(
  reads: UsageReads,
  tenantId: string,
  range: HalfHours,
): Promise<DestinationUsage[]> {
  const found = new Map<string, Destination>()
  await eachSlice(reads, DESTINATION_SUMS, tenantId, range, (rows) => rows.forEach((row) => addDestination(found, row)))
  const since = found.size > MAX_LISTED ? newestThat(found.values(), MAX_LISTED) : 0
  return [...found.values()].filter(({ newest }) => newest >= since).slice(-MAX_LISTED)
}

function addDestination(found: Map<string, Destination>, row: Row): void {
  const targetId = String(row['target_id'])
  const [success, failed, newest] = [Number(row['success']), Number(row['failed']), Number(row['newest'])]
  let known = found.get(targetId)
  if (known === undefined) {
    const kind = row['kind'] === 'trigger' ? 'trigger' : 'app'
    known = { targetId, kind, url: '', success: 0, failed: 0, durations: [], newest: 0 }
    found.set(targetId, known)
  }
  if (newest >= known.newest) known.url = String(row['url'])
  known.newest = Math.max(known.newest, newest)
  known.success += success
  known.failed += failed
  known.durations.push({ ms: Number(row['duration_ms']), count: success + failed })
}

/** The latest half hour since which at least `count` destinations were used. A sort of all would take longer. */
function newestThat(destinations: Iterable<Destination>, count: number): number {
  const used = new Map<number, number>()
  for (const { newest } of destinations) used.set(newest, (used.get(newest) ?? 0) + 1)
  let left = count
  for (const halfHour of [...used.keys()].toSorted((one, other) => other - one)) {
    left -= used.get(halfHour) ?? 0
    if (left <= 0) return halfHour
  }
  return 0
}
