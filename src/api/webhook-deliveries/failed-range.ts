import type { Caller } from '../../core/caller.ts'
import { Limiter, type Slot } from '../../core/limiter.ts'
import { FAILURES_STEP_ROWS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Database } from '../../db/database.ts'
import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { requireOwnDestinations } from './own-destinations.ts'
import type { RangeBody } from './schemas.ts'

/** Attempts are found by their start, which may be before a range that contains their end. */
const LONGEST_ATTEMPT_MS = 60_000

/** A row of `webhook_attempts` in the order of their times. */
interface RowPosition {
  at: number
  seq: number
}

interface StepEnd extends RowPosition {
  /** Whether there are no rows after it. */
  isLast: boolean
}

/**
 * SQL: whether a row `latest` of `webhook_attempts` is a failed latest attempt of one step. `?2` and `?3` are the time and number of the last row
 * of the step before, `?4` and `?5` those of the last row of this step. Attempts must have ended between `?6` and `?7`. `?8`: the
 * destination, or null for all.
 */
export const FAILED_IN_STEP = `latest.is_unresolved = 1
  AND (latest.attempted_at, latest.seq) > (?2, ?3) AND (latest.attempted_at, latest.seq) <= (?4, ?5)
  AND latest.attempted_at + coalesce(latest.duration_ms, 0) BETWEEN ?6 AND ?7 AND (?8 IS NULL OR latest.target_id = ?8)`

/**
 * Commits `sql` for the deliveries whose latest attempt failed in a range of time and was not dismissed, the oldest first, until it has
 * returned `most` rows. `?9` of it is the number of rows that it may still return, `?10` and so on are `more`. Other work runs between the
 * steps. Returns how many rows it returned. Errors: `forbidden` for an app or trigger that is not the tenant's.
 */
export async function overFailures(
  gateway: Gateway,
  caller: Caller,
  body: RangeBody,
  { sql, more = [], most = Infinity, each }: FailureStatement,
): Promise<number> {
  await requireOwnDestinations(gateway, caller, body)
  const { since, appId, triggerId } = body
  if (appId !== undefined && triggerId !== undefined) return 0
  // Later failures are those of attempts that this call schedules.
  const until = Math.min(body.until ?? Infinity, gateway.clock.now())
  let count = 0
  let from: RowPosition = { at: since - LONGEST_ATTEMPT_MS, seq: 0 }
  while (count < most) {
    const end = await endOfStep(gateway, caller, from, until)
    if (end === null) break
    const range = [from.at, from.seq, end.at, end.seq, since, until, appId ?? triggerId ?? null]
    const left = Math.min(most - count, FAILURES_STEP_ROWS)
    const rows = await inTurn(gateway.database, caller.tenantId, {
      sql,
      args: [caller.tenantId, ...range, left, ...more],
    })
    each?.(rows)
    count += rows.length
    // Attempts that this call has scheduled may have failed already, and are not the next step.
    if (end.isLast) break
    from = end
  }
  return count
}

interface FailureStatement {
  sql: string
  more?: Statement['args']
  most?: number
  /** Called with the rows of each step. */
  each?(rows: readonly Row[]): void
}

/** The last row of the next step; null if there are no more rows. */
async function endOfStep(
  { database }: Gateway,
  { tenantId }: Caller,
  from: RowPosition,
  until: number,
): Promise<StepEnd | null> {
  const sql = `SELECT attempted_at, seq, count(*) OVER () AS rows FROM (
        SELECT attempted_at, seq FROM webhook_attempts INDEXED BY webhook_attempts_unresolved
        WHERE tenant_id = ?1 AND is_unresolved = 1 AND (attempted_at, seq) > (?2, ?3) AND attempted_at <= ?4
        ORDER BY attempted_at, seq LIMIT ?5)
      ORDER BY attempted_at DESC, seq DESC LIMIT 1`
  const args = [tenantId, from.at, from.seq, until, FAILURES_STEP_ROWS]
  const [last] = await database.reader.longRead(tenantId, sql, args)
  if (last === undefined) return null
  const { attempted_at: at, seq, rows } = last
  return { at: Number(at), seq: Number(seq), isLast: Number(rows) < FAILURES_STEP_ROWS }
}

const turns = new WeakMap<Database, Limiter>()

/** Commits a step when it is the tenant's turn. Each commit has one step, because simultaneous calls would otherwise share a long one. */
export async function inTurn(database: Database, tenantId: string, statement: Statement): Promise<Row[]> {
  const limiter = turns.get(database) ?? new Limiter({ total: 1, perTenant: 1 })
  turns.set(database, limiter)
  const turn = await new Promise<Slot>((resolve) => void limiter.request(tenantId, [], resolve))
  const [made] = await database.writer.write([statement]).finally(turn.release)
  return made?.rows ?? []
}
