import { DEFAULT_PENALTY_MS, WINDOW_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Gate } from '../../db/gate.ts'
import type { Gateway } from '../../gateway.ts'
import { adoptFirstAttempts } from './adopt.ts'
import { WINDOW_BOUND } from './window-bound.ts'

/**
 * At the start: every attempt that another run of the process left open has an unknown outcome, so it goes to be settled,
 * with its job or, where its message stood for both, with a new one. Answers how many there are.
 */
export async function recoverOpenAttempts(gateway: Gateway): Promise<number> {
  await adoptFirstAttempts(gateway)
  const now = Math.ceil(gateway.clock.steady())
  const [opened] = await gateway.database.writer.write([
    {
      sql: 'UPDATE send_attempts SET settle_at = ?1 WHERE outcome IS NULL AND boot_id != ?2 RETURNING id',
      args: [now + gateway.config.reconcileSettleMs, gateway.bootId],
    },
    {
      // The clock was set back since: an age must not be negative, or what waits for one would wait for hours.
      sql: `UPDATE send_attempts SET started_at = ?1 WHERE started_at > ?1 AND message_id IN (SELECT subject FROM jobs)`,
      args: [now],
    },
    {
      sql: `UPDATE jobs SET kind = 'settle', run_at = ?1, lane = opened.extension_id
        FROM (SELECT message_id, extension_id FROM send_attempts WHERE outcome IS NULL) AS opened
        WHERE jobs.subject = opened.message_id AND jobs.kind IN ('send', 'fence')`,
      args: [now],
    },
  ])
  return opened?.rows.length ?? 0
}

/** Fills the rate windows, oldest attempts first, and the pauses with what was sent before this start. */
export async function seedQuota(gateway: Gateway): Promise<void> {
  const now = gateway.clock.now()
  const { gate } = gateway.database
  const attempts = [
    ...(await attemptsSince(gate, now - WINDOW_MS)),
    ...(await firstAttemptsSince(gate, now - WINDOW_MS)),
  ]
  for (const row of attempts.toSorted((a, b) => Number(a['started_at']) - Number(b['started_at']))) {
    gateway.quota.seed(String(row['from_number']), String(row['extension_id']), now - Number(row['started_at']))
  }
  const paused = await gate.execute({
    sql: 'SELECT extension_id, paused_until FROM extensions WHERE paused_until > ?1',
    args: [now],
  })
  const longestMs = paused.rows.length > 0 && (await wasSetBack(gateway, now)) ? DEFAULT_PENALTY_MS : Infinity
  for (const row of paused.rows) {
    gateway.quota.pause(String(row['extension_id']), 'medium', Math.min(Number(row['paused_until']) - now, longestMs))
  }
}

const SEED_PAGE = 1000
const SEED_PAGES = 100

/** From the end backwards, until a whole page is older: where the clock was set, a single row says nothing. */
async function attemptsSince(gate: Gate, since: number): Promise<Row[]> {
  const found: Row[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let page = 0; page < SEED_PAGES; page++) {
    const { rows } = await gate.execute({
      sql: `SELECT seq, from_number, extension_id, started_at FROM send_attempts WHERE seq < ?1 ORDER BY seq DESC LIMIT ${SEED_PAGE}`,
      args: [before],
    })
    const recent = rows.filter((row) => Number(row['started_at']) > since)
    found.push(...recent)
    if (recent.length === 0 || rows.length < SEED_PAGE) break
    before = Number(rows.at(-1)?.['seq'])
  }
  return found
}

/** Those that have no row of their own. Either clock may have been behind when they began; one that was ahead only counts for longer. */
async function firstAttemptsSince(gate: Gate, since: number): Promise<Row[]> {
  const { rows } = await gate.execute({
    sql: `SELECT from_number, first_attempt_extension_id AS extension_id, max(first_attempt_at, created_at) AS started_at FROM messages
      WHERE seq > ${WINDOW_BOUND} AND first_attempt_extension_id IS NOT NULL AND max(first_attempt_at, created_at) > ?1`,
    args: [since],
  })
  return rows
}

/** After the clock was set back a pause looks longer than it is, by as much as an hour. What was just sent then lies ahead. */
async function wasSetBack(gateway: Gateway, now: number): Promise<boolean> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT 1 FROM (SELECT message_id, started_at FROM send_attempts ORDER BY seq DESC LIMIT 1000) AS tried
        JOIN messages ON messages.id = tried.message_id WHERE messages.updated_at > ?1 OR tried.started_at > ?1
      UNION ALL SELECT 1 FROM (SELECT first_attempt_at, updated_at FROM messages ORDER BY seq DESC LIMIT 1000)
        WHERE first_attempt_at > ?1 OR (first_attempt_at IS NOT NULL AND updated_at > ?1)
      LIMIT 1`,
    args: [now],
  })
  return rows.length > 0
}
