import { HALF_HOUR_MS, HOUR_MS, MAX_LISTED, MAX_OVERVIEW_ERRORS, OVERVIEW_BUCKETS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Reader } from '../../db/reader.ts'
import type { LatencyCount } from './latency.ts'
import { COUNTS } from './roll-up.ts'

/** A range of half hours: since ≤ half hour < end. */
export interface HalfHours {
  since: number
  end: number
}

/** The part of the gateway that reads the roll-up. */
export interface UsageReads {
  database: { reader: Reader }
}

/** `sql` reads the half hours from `?2` to `?3` (not included) of tenant `?1`. */
const readUsage = (
  { database }: UsageReads,
  sql: string,
  tenantId: string,
  { since, end }: HalfHours,
): Promise<Row[]> => database.reader.longRead(tenantId, sql, [tenantId, since, end])

export type Totals = Record<(typeof COUNTS)[number], number>

export const halfHourAt = (at: number): number => Math.floor(at / HALF_HOUR_MS)

/** The range of an overview that ends now: 48 equal buckets of whole half hours, at least `hours`. */
export function overviewRange(now: number, hours: number): { range: HalfHours; perBucket: number } {
  const perBucket = Math.ceil((hours * HOUR_MS) / HALF_HOUR_MS / OVERVIEW_BUCKETS)
  const current = halfHourAt(now)
  const since = (Math.floor(current / perBucket) - OVERVIEW_BUCKETS + 1) * perBucket
  return { range: { since, end: current + 1 }, perBucket }
}

const SUMS = COUNTS.map((count) => `sum(${count}) AS ${count}`).join(', ')

const bucketsSql = (perBucket: number): string => `SELECT half_hour / ${perBucket} AS bucket, latency_ms, ${SUMS}
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY 1, 2`

const TOTALS = `SELECT ${SUMS} FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3`

export async function readTotals(reads: UsageReads, tenantId: string, range: HalfHours): Promise<Totals> {
  const [row = {}] = await readUsage(reads, TOTALS, tenantId, range)
  return totalsOf(row)
}

/** The counts of a bucket, and how long its messages took from `queued` to `sent`. */
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
  for (const row of await readUsage(reads, bucketsSql(perBucket), tenantId, { since, end })) {
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

const ERRORS = `SELECT error, sum(count) AS count, max(last_at) AS last_at FROM usage_errors
  WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3
  GROUP BY error ORDER BY count DESC, last_at DESC LIMIT ${MAX_OVERVIEW_ERRORS}`

export interface ErrorUsage {
  error: string
  count: number
  /** Epoch milliseconds. */
  lastAt: number
}

/** The most frequent errors of a range. */
export async function readErrors(reads: UsageReads, tenantId: string, range: HalfHours): Promise<ErrorUsage[]> {
  const rows = await readUsage(reads, ERRORS, tenantId, range)
  return rows.map((row) => ({
    error: String(row['error']),
    count: Number(row['count']),
    lastAt: Number(row['last_at']),
  }))
}

/** A destination's current address, or that of its newest row if it has none: SQLite takes bare columns from the row with the max(). */
const DESTINATIONS = `SELECT target_id, kind, max(half_hour) AS newest, duration_ms, sum(success) AS success, sum(failed) AS failed,
    coalesce((SELECT webhook_url FROM apps WHERE kind = 'app' AND id = target_id),
      (SELECT callback_url FROM triggers WHERE kind = 'trigger' AND id = target_id), url) AS url
  FROM usage_destinations WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 AND target_id IN (
    SELECT target_id FROM usage_destinations WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3
    GROUP BY target_id ORDER BY max(half_hour) DESC LIMIT ${MAX_LISTED})
  GROUP BY target_id, duration_ms ORDER BY newest`

export interface DestinationUsage {
  targetId: string
  kind: 'app' | 'trigger'
  url: string
  success: number
  failed: number
  durations: LatencyCount[]
}

/** The webhook attempts of a range, by destination. If there are very many, the most recently used ones. */
export async function readDestinations(
  reads: UsageReads,
  tenantId: string,
  range: HalfHours,
): Promise<DestinationUsage[]> {
  const found = new Map<string, DestinationUsage>()
  for (const row of await readUsage(reads, DESTINATIONS, tenantId, range)) {
    const targetId = String(row['target_id'])
    const known = found.get(targetId) ?? { ...NOT_USED, targetId, kind: kindOf(row), durations: [] }
    const [success, failed] = [Number(row['success']), Number(row['failed'])]
    known.url = String(row['url'])
    known.success += success
    known.failed += failed
    known.durations.push({ ms: Number(row['duration_ms']), count: success + failed })
    found.set(targetId, known)
  }
  return [...found.values()]
}

const NOT_USED = { url: '', success: 0, failed: 0 }

const kindOf = (row: Row): DestinationUsage['kind'] => (row['kind'] === 'trigger' ? 'trigger' : 'app')
