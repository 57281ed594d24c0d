import { DEFAULT_PENALTY_MS, WINDOW_MS } from '../core/limits.ts'
import type { Row } from '../db/connection.ts'
import type { Gate } from '../db/gate.ts'
import { readLanes } from '../jobs/job-rows.ts'
import type { SendingContext } from './context.ts'
import { type Quarantine, findQuarantined } from './quarantine.ts'
import type { Scheduler } from './scheduler.ts'
import { type NumberQueue, newEntry } from './number-queue.ts'

interface Recovering {
  context: SendingContext
  scheduler: Scheduler
}

/**
 * Recovers the state of an earlier run, before anything is sent. Every open attempt gets an unknown outcome, so the lookup
 * job of its extension closes it. Lines are created, and rate windows filled as they were. Returns how many attempts were open.
 */
export async function recoverSending(
  engine: Recovering & { newestJobSeq: number; quarantine: Quarantine },
): Promise<number> {
  const { database } = engine.context
  const opened = await findOrphans(engine)
  await findQuarantined(engine.context, engine.quarantine)
  engine.newestJobSeq = await newestJobSeq(database.gate)
  await fillWindows(engine.context)
  return opened
}

/**
 * Finds open attempts and queues that this process does not know: at the start those of an earlier run, later those that a
 * late write of a dead process has stored. Returns how many attempts it found.
 */
export async function findOrphans({ context, scheduler }: Recovering): Promise<number> {
  const { gate } = context.database
  const { rows } = await gate.execute(OPEN_ATTEMPTS)
  const orphans = rows.filter((row) => scheduler.entries.get(String(row['message_id']))?.attempt?.seq !== row['seq'])
  const own = orphans.filter((row) => row['boot_id'] === context.bootId)
  const opened = await leaveToLookups(
    context,
    orphans.filter((row) => !own.includes(row)),
  )
  for (const row of opened) {
    const queue = scheduler.queues.of(String(row['tenant_id']), String(row['from_number']), true)
    scheduler.openAgain(await entryOf(gate, queue, row))
  }
  for (const { lane, tenantId } of await readLanes(gate, 'send'))
    if (!scheduler.queues.has(tenantId, lane)) scheduler.touch(scheduler.queues.of(tenantId, lane, true))
  return opened.length
}

async function newestJobSeq(gate: Gate): Promise<number> {
  const { rows } = await gate.execute(`SELECT seq FROM sqlite_sequence WHERE name = 'jobs'`)
  return Number(rows[0]?.['seq'] ?? 0)
}

const OPEN_ATTEMPTS = `SELECT seq, message_id, boot_id FROM send_attempts INDEXED BY send_attempts_open WHERE closed_at IS NULL`

/** The clock may have been set since. So no attempt begins in the future, and the full settle time starts now. */
const MAKE_UNKNOWN = `UPDATE send_attempts SET outcome = 'unknown', absent_after = ?2, started_at = min(started_at, ?1)
  WHERE seq IN (SELECT value FROM json_each(?3)) AND closed_at IS NULL
  RETURNING seq, message_id, tenant_id, extension_id, from_number, to_number, started_at, provider_started_at, absent_after`

const MAKE_LOOKUPS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT 'job_' || lower(hex(randomblob(8))), 'lookup', extension_id, tenant_id, extension_id, ?1, ?1
  FROM (SELECT DISTINCT extension_id, tenant_id FROM send_attempts WHERE seq IN (SELECT value FROM json_each(?2))) AS open
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'lookup' AND lane = open.extension_id AND tenant_id = open.tenant_id)`

async function leaveToLookups(
  { database, clock, config, jobs }: SendingContext,
  orphans: readonly Row[],
): Promise<Row[]> {
  if (orphans.length === 0) return []
  const now = Math.ceil(clock.steady())
  const seqs = JSON.stringify(orphans.map((row) => row['seq']))
  const [opened] = await database.writer.write([
    { sql: MAKE_UNKNOWN, args: [now, now + config.reconcileSettleMs, seqs] },
    { sql: MAKE_LOOKUPS, args: [now, seqs] },
  ])
  const rows = [...(opened?.rows ?? [])]
  for (const row of rows) jobs.scheduled('lookup', String(row['extension_id']), String(row['tenant_id']), 0)
  return rows
}

/** The job of an open attempt is among the oldest of its queue, so few rows are read. */
const JOB = `SELECT seq, is_quarantined FROM jobs WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3 ORDER BY seq LIMIT 1`

async function entryOf(gate: Gate, queue: NumberQueue, row: Row) {
  const messageId = String(row['message_id'])
  const { rows } = await gate.execute({ sql: JOB, args: [queue.number, queue.tenantId, messageId] })
  const isQuarantined = rows[0]?.['is_quarantined'] === 1
  const entry = newEntry(queue, messageId, String(row['to_number']), Number(rows[0]?.['seq'] ?? 0), isQuarantined)
  entry.attempt = {
    seq: Number(row['seq']),
    extensionId: String(row['extension_id']),
    startedAt: Number(row['started_at']),
    providerStartedAt: row['provider_started_at'] === null ? null : Number(row['provider_started_at']),
    absentAfter: Number(row['absent_after']),
    isOwn: false,
  }
  return entry
}

/** Fills the rate windows and the pauses with what was sent before this start. */
async function fillWindows({ database, clock, quota }: SendingContext): Promise<void> {
  const now = Math.floor(clock.steady())
  for (const row of await attemptsSince(database.gate, now - WINDOW_MS))
    quota.seed(String(row['from_number']), String(row['extension_id']), now - Number(row['until']))
  const { rows } = await database.gate.execute({
    sql: 'SELECT extension_id, paused_until FROM extensions WHERE paused_until > ?1',
    args: [now],
  })
  const longestMs = rows.length > 0 && (await wasSetBack(database.gate, now)) ? DEFAULT_PENALTY_MS : Infinity
  for (const row of rows)
    quota.pause(String(row['extension_id']), 'medium', Math.min(Number(row['paused_until']) - now, longestMs))
}

const ROWS_AT_ONCE = 1000
const MAX_PAGES = 100

/**
 * Attempts that may still count for rate windows, oldest first. `until` is the latest time at which the provider may have
 * counted one. Reads backwards until every row of a page is older, because one old row proves nothing after the clock was set.
 */
async function attemptsSince(gate: Gate, since: number): Promise<Row[]> {
  const found: Row[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let page = 0; page < MAX_PAGES; page++) {
    const { rows } = await gate.execute({
      sql: `SELECT seq, from_number, extension_id, coalesce(closed_at, absent_after, started_at) AS until FROM send_attempts
        WHERE seq < ?1 ORDER BY seq DESC LIMIT ${ROWS_AT_ONCE}`,
      args: [before],
    })
    const recent = rows.filter((row) => Number(row['until']) > since)
    found.push(...recent)
    if (recent.length === 0 || rows.length < ROWS_AT_ONCE) break
    before = Number(rows.at(-1)?.['seq'])
  }
  return found.toSorted((one, other) => Number(one['until']) - Number(other['until']))
}

/** Whether the clock was set back: then recent attempts lie in the future, and pauses look up to an hour longer than they are. */
async function wasSetBack(gate: Gate, now: number): Promise<boolean> {
  const { rows } = await gate.execute({
    sql: `SELECT 1 FROM (SELECT message_id, started_at FROM send_attempts ORDER BY seq DESC LIMIT 1000) AS tried
        JOIN messages ON messages.id = tried.message_id WHERE messages.updated_at > ?1 OR tried.started_at > ?1 LIMIT 1`,
    args: [now],
  })
  return rows.length > 0
}
