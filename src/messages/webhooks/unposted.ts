import { DAY_MS } from '../../core/limits.ts'
import type { Gateway } from '../gateway.ts'
import { NEVER_ARRIVED } from './never-arrived.ts'

/** Webhooks whose attempt was interrupted, and that no retry policy will post again. Each may have arrived. */
export interface UnpostedWebhooks {
  count: number
  /** When the first of these attempts began, epoch milliseconds. */
  since: number
  /** When the last interruption was noticed, steady time: identifies the interruption. */
  noticedAt: number
}

/**
 * `?1`: the earliest time of notice. The fact stores the numbers of the attempts, so that the table needs no index for the few that were
 * interrupted. Attempts that were open when they were recorded become unresolved when they are closed.
 */
const UNPOSTED = `SELECT latest.seq, latest.attempted_at, facts.value ->> 'at' AS noticed_at
  FROM facts CROSS JOIN json_each(facts.value, '$.attempts') AS noted
  CROSS JOIN webhook_attempts AS latest ON latest.seq = noted.value
  CROSS JOIN tenants ON tenants.id = latest.tenant_id AND tenants.status = 'active'
  WHERE facts.name = 'interrupted_webhooks' AND facts.value ->> 'at' > ?1 AND ${NEVER_ARRIVED}`

/** `?2`: now, in steady time. `?3`: the numbers of the attempts, as JSON. */
const NOTE = `INSERT INTO facts (name, value)
  SELECT 'interrupted_webhooks', json_object('at', ?2, 'attempts', json_group_array(seq))
  FROM (SELECT seq FROM (${UNPOSTED}) UNION SELECT value FROM json_each(?3)) WHERE true
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** Records attempts that are about to be closed as interrupted, beside those of the last day that have not been posted again. */
export async function noteInterrupted({ database, clock }: Gateway, attempts: readonly number[]): Promise<void> {
  if (attempts.length === 0) return
  const now = Math.ceil(clock.steady())
  await database.writer.write([{ sql: NOTE, args: [now - DAY_MS, now, JSON.stringify(attempts)] }])
}

/** Webhooks interrupted in the last day and not posted since; null if there are none. */
export async function readUnposted({
  database,
  clock,
}: Pick<Gateway, 'database' | 'clock'>): Promise<UnpostedWebhooks | null> {
  const sql = `SELECT count(*) AS count, min(attempted_at) AS since, max(noticed_at) AS noticed_at FROM (${UNPOSTED})`
  const [found] = await database.reader.longRead('operator', sql, [Math.ceil(clock.steady()) - DAY_MS])
  const count = Number(found?.['count'] ?? 0)
  if (count === 0) return null
  return { count, since: Number(found?.['since']), noticedAt: Number(found?.['noticed_at']) }
}
