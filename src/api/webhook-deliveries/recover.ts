import type { Caller } from '../../core/caller.ts'
import { Limiter, type Slot } from '../../core/limiter.ts'
import { MAX_RECOVERED_DELIVERIES, RECOVER_STEP_ROWS } from '../../core/limits.ts'
import type { Database } from '../../db/database.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { requireOwnDestinations } from './own-destinations.ts'
import { RECOVER } from './redelivery-rows.ts'
import type { RecoverBody, Recovered } from './schemas.ts'

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
 * Schedules one attempt for each delivery whose latest attempt failed in a range of time, oldest first. Other work runs between its steps.
 * Errors: `forbidden` for an app or trigger that is not the tenant's.
 */
export async function recoverDeliveries(gateway: Gateway, caller: Caller, body: RecoverBody): Promise<Recovered> {
  await requireOwnDestinations(gateway, caller, body)
  const { since, appId, triggerId } = body
  if (appId !== undefined && triggerId !== undefined) return { scheduled: 0 }
  // Later failures are those of attempts that this call schedules.
  const until = Math.min(body.until ?? Infinity, gateway.clock.now())
  const range = { since, until, targetId: appId ?? triggerId ?? null }
  let scheduled = 0
  let from: RowPosition = { at: since - LONGEST_ATTEMPT_MS, seq: 0 }
  while (scheduled < MAX_RECOVERED_DELIVERIES) {
    const end = await endOfStep(gateway, caller, from, until)
    if (end === null) break
    scheduled += await recoverStep(gateway, caller, range, { from, end, limit: MAX_RECOVERED_DELIVERIES - scheduled })
    // Attempts that this call has scheduled may have failed already, and are not the next step.
    if (end.isLast) break
    from = end
  }
  return { scheduled }
}

/** The last row of the next step; null if there are no more rows. */
async function endOfStep(
  { database }: Gateway,
  { tenantId }: Caller,
  from: RowPosition,
  until: number,
): Promise<StepEnd | null> {
  const sql = `SELECT attempted_at, seq, count(*) OVER () AS rows FROM (SELECT attempted_at, seq FROM webhook_attempts
        WHERE tenant_id = ?1 AND (attempted_at, seq) > (?2, ?3) AND attempted_at <= ?4 ORDER BY attempted_at, seq LIMIT ?5)
      ORDER BY attempted_at DESC, seq DESC LIMIT 1`
  const [last] = await database.reader.longRead(tenantId, sql, [tenantId, from.at, from.seq, until, RECOVER_STEP_ROWS])
  if (last === undefined) return null
  const { attempted_at: at, seq, rows } = last
  return { at: Number(at), seq: Number(seq), isLast: Number(rows) < RECOVER_STEP_ROWS }
}

const turns = new WeakMap<Database, Limiter>()

/** Resolves when the tenant may commit a step. Each commit has one step, because calls at once would otherwise share a long one. */
function turnOf(database: Database, tenantId: string): Promise<Slot> {
  const limiter = turns.get(database) ?? new Limiter({ total: 1, perTenant: 1 })
  turns.set(database, limiter)
  return new Promise((resolve) => void limiter.request(tenantId, [], resolve))
}

async function recoverStep(
  { database, clock, jobs }: Gateway,
  { tenantId }: Caller,
  { since, until, targetId }: { since: number; until: number; targetId: string | null },
  { from, end, limit }: { from: RowPosition; end: RowPosition; limit: number },
): Promise<number> {
  const now = Math.ceil(clock.steady())
  const turn = await turnOf(database, tenantId)
  const [made] = await database.writer
    .write([{ sql: RECOVER, args: [tenantId, from.at, now, from.seq, end.at, end.seq, since, until, targetId, limit] }])
    .finally(turn.release)
  const rows = made?.rows ?? []
  for (const lane of new Set(rows.map((row) => String(row['lane'])))) jobs.wake('webhook_retry', lane, tenantId, 0)
  return rows.length
}
