import { DEFAULT_PENALTY_MS, WINDOW_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Gate } from '../../db/gate.ts'
import { RESTORED_BOOT } from '../../db/restore-mark.ts'
import { SEND_GROUP } from '../../provider/quota.ts'
import { readLanes } from '../jobs/job-rows.ts'
import { attachmentsOf } from '../media/attachments.ts'
import { ensureLookups } from './attempt-rows.ts'
import type { SendingContext } from './context.ts'
import type { SendEngine } from './engine.ts'
import { type NumberQueue, newEntry } from './number-queue.ts'
import { WAS_CALLED, uploadMsOf } from './outbound-message.ts'

/**
 * Recovers the state of an earlier process, before anything is sent. Every open attempt gets an unknown outcome, so the lookup
 * job of its extension closes it. Creates the queues, and fills the rate windows as they were. Returns how many attempts were
 * open.
 */
export async function recoverSending(engine: SendEngine): Promise<number> {
  const { clock, database } = engine.context
  const { gate } = database
  // Checked before recovery, which moves attempts in the future: only they may show that the clock was set back.
  const isSetBack = await wasSetBack(gate, Math.floor(clock.steady()))
  const opened = await recoverOrphans(engine)
  engine.numberLookups.noteAccepted(await newestSeq(gate))
  await fillWindows(engine.context, isSetBack)
  return opened
}

/** Recovers attempts and queues that a dead process committed late. Call it at intervals. */
export async function recoverLateCommits(engine: SendEngine): Promise<void> {
  await recoverOrphans(engine)
}

/** Recovers open attempts and queues that are not in memory. Returns how many attempts there were. */
async function recoverOrphans({ context, scheduler }: SendEngine): Promise<number> {
  const { gate } = context.database
  const { rows } = await gate.execute(LIST_OPEN_ATTEMPTS)
  const isKnown = (row: Row): boolean =>
    row['boot_id'] === context.bootId || scheduler.entries.get(String(row['message_id']))?.attempt?.seq === row['seq']
  const orphans = await makeUnknown(
    context,
    rows.filter((row) => !isKnown(row)),
  )
  for (const row of orphans) {
    const queue = scheduler.queues.getOrCreate(String(row['tenant_id']), String(row['from_number']), true)
    scheduler.addOpen(await entryOf(gate, queue, row))
  }
  for (const { lane: number, tenantId } of await readLanes(gate, 'send'))
    if (scheduler.queues.known(tenantId, number) === null)
      scheduler.touch(scheduler.queues.getOrCreate(tenantId, number, true))
  return orphans.length
}

/** The newest job of any kind. */
async function newestSeq(gate: Gate): Promise<number> {
  const { rows } = await gate.execute(`SELECT seq FROM sqlite_sequence WHERE name = 'jobs'`)
  return Number(rows[0]?.['seq'] ?? 0)
}

const LIST_OPEN_ATTEMPTS = `SELECT seq, message_id, boot_id FROM send_attempts INDEXED BY send_attempts_open WHERE closed_at IS NULL`

/** The wall clock may have been changed since. `started_at` is therefore at most now, and the settle time starts again. */
const MAKE_UNKNOWN = `UPDATE send_attempts SET outcome = 'unknown', absent_after = value ->> 'absentAfter', started_at = min(started_at, ?1)
  FROM json_each(?2) WHERE seq = value ->> 'seq' AND closed_at IS NULL
  RETURNING seq, message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at, provider_started_at, absent_after`

const ENSURE_LOOKUPS = ensureLookups(`SELECT DISTINCT extension_id, tenant_id, ?1 AS due_at, ?1 AS created_at
  FROM send_attempts WHERE seq IN (SELECT value FROM json_each(?2))`)

/** Makes the outcomes of open attempts unknown, so that lookups close them. Returns the attempts that were still open. */
async function makeUnknown(context: SendingContext, open: readonly Row[]): Promise<Row[]> {
  const { database, clock, config, jobs } = context
  if (open.length === 0) return []
  const steadyNow = Math.ceil(clock.steady())
  const settled = steadyNow + config.reconcileSettleMs
  const uploads = await uploadsOf(context, open)
  const ends = open.map(({ seq, message_id: id }) => ({ seq, absentAfter: settled + (uploads.get(String(id)) ?? 0) }))
  const [changed] = await database.writer.write([
    { sql: MAKE_UNKNOWN, args: [steadyNow, JSON.stringify(ends)] },
    { sql: ENSURE_LOOKUPS, args: [steadyNow, JSON.stringify(open.map(({ seq }) => seq))] },
  ])
  const rows = [...(changed?.rows ?? [])]
  for (const row of rows) jobs.wake('lookup', String(row['extension_id']), String(row['tenant_id']), 0)
  return rows.map((row) => ({ ...row, upload_ms: uploads.get(String(row['message_id'])) ?? 0 }))
}

const WITH_MEDIA = `SELECT id, attachments FROM messages WHERE id IN (SELECT value FROM json_each(?1)) AND attachments IS NOT NULL`

/** How much longer the calls of these attempts may take than a text's; 0 for texts. */
async function uploadsOf(context: SendingContext, open: readonly Row[]): Promise<Map<string, number>> {
  const ids = JSON.stringify(open.map((row) => row['message_id']))
  const { rows } = await context.database.gate.execute({ sql: WITH_MEDIA, args: [ids] })
  return new Map(
    rows.map((row) => [String(row['id']), uploadMsOf(context, { attachments: attachmentsOf(row['attachments']) })]),
  )
}

/** The job of an open attempt is among the oldest of its queue, so few rows are read. */
const JOB = `SELECT seq FROM jobs WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3 ORDER BY seq LIMIT 1`

async function entryOf(gate: Gate, queue: NumberQueue, row: Row) {
  const messageId = String(row['message_id'])
  const { rows } = await gate.execute({ sql: JOB, args: [queue.number, queue.tenantId, messageId] })
  const isQuarantined = row['boot_id'] === RESTORED_BOOT
  const entry = newEntry(queue, messageId, String(row['to_number']), Number(rows[0]?.['seq'] ?? 0), isQuarantined)
  entry.attempt = {
    seq: Number(row['seq']),
    extensionId: String(row['extension_id']),
    startedAt: Number(row['started_at']),
    providerStartedAt: row['provider_started_at'] === null ? null : Number(row['provider_started_at']),
    absentAfter: Number(row['absent_after']),
    uploadMs: Number(row['upload_ms']),
    durationMs: null,
    isOwn: false,
  }
  return entry
}

/** Fills the rate windows and the pauses from calls before this start. */
async function fillWindows({ database, clock, quota }: SendingContext, isSetBack: boolean): Promise<void> {
  const steadyNow = Math.floor(clock.steady())
  for (const row of await attemptsSince(database.gate, steadyNow - WINDOW_MS))
    quota.seed(String(row['from_number']), String(row['extension_id']), steadyNow - Number(row['until']))
  const { rows } = await database.gate.execute({
    sql: 'SELECT extension_id, paused_until FROM extensions WHERE paused_until > ?1',
    args: [steadyNow],
  })
  const longestMs = isSetBack ? DEFAULT_PENALTY_MS : Infinity
  for (const row of rows) {
    const leftMs = Math.min(Number(row['paused_until']) - steadyNow, longestMs)
    quota.pause(String(row['extension_id']), SEND_GROUP, leftMs, null)
  }
}

const ROWS_AT_ONCE = 1000
const MAX_PAGES = 100

/**
 * Attempts that may still count for rate windows, oldest first. `until` is the latest time at which the provider may have counted one. Reads
 * backwards until every row of a page is older: after the clock was set, a single old row proves nothing.
 */
async function attemptsSince(gate: Gate, since: number): Promise<Row[]> {
  const found: Row[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let page = 0; page < MAX_PAGES; page++) {
    const { rows } = await gate.execute({
      sql: `SELECT seq, from_number, extension_id, coalesce(closed_at, absent_after, started_at) AS until FROM send_attempts
        WHERE seq < ?1 AND ${WAS_CALLED} ORDER BY seq DESC LIMIT ${ROWS_AT_ONCE}`,
      args: [before],
    })
    const recent = rows.filter((row) => Number(row['until']) > since)
    found.push(...recent)
    if (recent.length === 0 || rows.length < ROWS_AT_ONCE) break
    before = Number(rows.at(-1)?.['seq'])
  }
  return found.toSorted((one, other) => Number(one['until']) - Number(other['until']))
}

/** Whether the clock was set back: then recent attempts are in the future, and stored pauses seem up to an hour too long. */
async function wasSetBack(gate: Gate, steadyNow: number): Promise<boolean> {
  const { rows } = await gate.execute({
    sql: `SELECT 1 FROM (SELECT message_id, started_at FROM send_attempts ORDER BY seq DESC LIMIT 1000) AS tried
        JOIN messages ON messages.id = tried.message_id WHERE messages.updated_at > ?1 OR tried.started_at > ?1 LIMIT 1`,
    args: [steadyNow],
  })
  return rows.length > 0
}
