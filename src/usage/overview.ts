import { HALF_HOUR_MS, MAX_OVERVIEW_ERRORS } from '../core/limits.ts'
import type { Row } from '../db/connection.ts'
import type { Gate } from '../db/gate.ts'
import type { LatencyCount } from './latency.ts'

export const COUNTS = ['accepted', 'sent', 'failed', 'received', 'delivered', 'undelivered'] as const
export type Totals = Record<(typeof COUNTS)[number], number>

/** A range of half hours, `until` not included. */
export interface HalfHours {
  since: number
  until: number
}

export const halfHourAt = (at: number): number => Math.floor(at / HALF_HOUR_MS)

const SUMS = `SELECT latency_ms, ${COUNTS.map((count) => `sum(${count}) AS ${count}`).join(', ')}
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY latency_ms`

/** Reads the counts of a range, and how long its messages took from `queued` to `sent`. */
export async function readTotals(
  gate: Gate,
  tenantId: string,
  { since, until }: HalfHours,
): Promise<{ totals: Totals; latencies: LatencyCount[] }> {
  const { rows } = await gate.execute({ sql: SUMS, args: [tenantId, since, until] })
  const latencies = rows.filter((row) => Number(row['latency_ms']) > 0).map(latencyOf)
  return { totals: addTotals(rows.map(totalsOf)), latencies }
}

export const addTotals = (all: readonly Totals[]): Totals =>
  totalsOf(Object.fromEntries(COUNTS.map((count) => [count, all.reduce((sum, each) => sum + each[count], 0)])))

const latencyOf = (row: Row): LatencyCount => ({ ms: Number(row['latency_ms']), count: Number(row['sent']) })

const totalsOf = (row: Readonly<Record<string, unknown>>): Totals => ({
  accepted: Number(row['accepted']),
  sent: Number(row['sent']),
  failed: Number(row['failed']),
  received: Number(row['received']),
  delivered: Number(row['delivered']),
  undelivered: Number(row['undelivered']),
})

const ERRORS = `SELECT error, sum(count) AS count, max(last_at) AS last_at FROM usage_errors
  WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY error ORDER BY 2 DESC, 3 DESC LIMIT ${MAX_OVERVIEW_ERRORS}`

/** Reads the most frequent errors of a range. */
export async function readErrors(gate: Gate, tenantId: string, { since, until }: HalfHours) {
  const { rows } = await gate.execute({ sql: ERRORS, args: [tenantId, since, until] })
  return rows.map((row) => ({
    error: String(row['error']),
    count: Number(row['count']),
    lastAt: Number(row['last_at']),
  }))
}

/** The URL of a destination is the one of its newest half hour. */
const DESTINATIONS = `SELECT target_id, kind, max(half_hour) AS newest, url, duration_ms, sum(success) AS success, sum(failed) AS failed
  FROM usage_destinations WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY target_id, duration_ms`

export interface DestinationUsage {
  targetId: string
  kind: 'app' | 'trigger'
  url: string
  success: number
  failed: number
  durations: LatencyCount[]
}

/** Reads the webhook attempts of a range, by destination. */
export async function readDestinations(
  gate: Gate,
  tenantId: string,
  { since, until }: HalfHours,
): Promise<DestinationUsage[]> {
  const { rows } = await gate.execute({ sql: DESTINATIONS, args: [tenantId, since, until] })
  const ordered = rows.toSorted((one, other) => Number(one['newest']) - Number(other['newest']))
  const found = new Map<string, DestinationUsage>()
  for (const row of ordered) {
    const targetId = String(row['target_id'])
    const known = found.get(targetId) ?? { success: 0, failed: 0, durations: [] }
    const [success, failed] = [Number(row['success']), Number(row['failed'])]
    found.set(targetId, {
      targetId,
      kind: row['kind'] === 'trigger' ? 'trigger' : 'app',
      url: String(row['url']),
      success: known.success + success,
      failed: known.failed + failed,
      durations: [...known.durations, { ms: Number(row['duration_ms']), count: success + failed }],
    })
  }
  return [...found.values()]
}
