import { HOUR_MS } from '../core/limits.ts'
import { segmentsOf } from '../core/segments.ts'
import type { Row } from '../db/connection.ts'
import type { RowOperation } from '../db/writer.ts'
import { countUsage } from '../usage/roll-up.ts'
import type { StoredSms } from '../provider/provider.ts'
import type { SendingContext } from './context.ts'
import { OF_ENDING, endingRows } from './ending-rows.ts'
import { matchRecord } from './match-record.ts'
import { publishStatus } from './publish-status.ts'
import { trackMessages } from '../tracking/delivery-rows.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * After a restore from a backup, waiting messages may have been sent after the copy was made. They are quarantined: each
 * holds its conversation until a lookup that began after `endsAt` has found out whether the provider has it.
 */
export class Quarantine {
  /** Whether any message may be quarantined. */
  isActive = false

  constructor(
    /** Steady time by which all calls made before the restore have ended. */
    readonly endsAt: number,
  ) {}
}

export interface ExtensionOfTenant {
  tenantId: string
  extensionId: string
}

const OF_EXTENSION = `jobs.kind = 'send' AND jobs.is_quarantined = 1 AND jobs.tenant_id = ?1
  AND jobs.lane IN (SELECT number FROM phone_numbers WHERE tenant_id = ?1 AND extension_id = ?2)`

/** When a message entered its queue. It was not sent before. */
const ENTERED_AT = 'max(messages.created_at, coalesce(messages.send_at, 0))'

/** When the oldest quarantined message of the extension entered its queue, epoch milliseconds; null if there is none. */
export async function oldestQuarantined(
  { database }: SendingContext,
  quarantine: Quarantine,
  { tenantId, extensionId }: ExtensionOfTenant,
): Promise<number | null> {
  if (!quarantine.isActive) return null
  const { rows } = await database.gate.execute({
    sql: `SELECT min(${ENTERED_AT}) AS at FROM jobs JOIN messages ON messages.id = jobs.subject WHERE ${OF_EXTENSION}`,
    args: [tenantId, extensionId],
  })
  const at = rows[0]?.['at']
  return typeof at === 'number' ? at : null
}

const ROWS_AT_ONCE = 500

/** Without messages that had an open attempt when the copy was made: that attempt is looked up. */
const QUARANTINED = `SELECT jobs.seq, messages.id, messages.app_id, messages.from_number, messages.to_number, messages.body, messages.status, ${ENTERED_AT} AS entered_at
  FROM jobs JOIN messages ON messages.id = jobs.subject WHERE ${OF_EXTENSION} AND jobs.seq > ?3
    AND NOT EXISTS (SELECT 1 FROM send_attempts AS open WHERE open.message_id = messages.id AND open.closed_at IS NULL)
  ORDER BY jobs.seq LIMIT ${ROWS_AT_ONCE}`

/**
 * Ends messages that the provider has and releases the others, in the order of acceptance, so that equal texts match their
 * records in order.
 */
export async function releaseQuarantined(
  context: SendingContext,
  scheduler: Scheduler,
  key: ExtensionOfTenant,
  records: readonly StoredSms[],
  taken: Set<string>,
): Promise<void> {
  const { tenantId, extensionId } = key
  for (let after = 0; ;) {
    const { rows } = await context.database.gate.execute({ sql: QUARANTINED, args: [tenantId, extensionId, after] })
    const found = rows.map((row) => ({ row, record: recordOf(context, row, records, taken) }))
    const bound = found.map(({ row, record }) => (record === null ? null : bind(context, scheduler, key, row, record)))
    const absent = found.filter(({ record }) => record === null).map(({ row }) => row)
    await Promise.all([...bound, release(context, scheduler, absent)])
    if (rows.length < ROWS_AT_ONCE) return
    after = Number(rows.at(-1)?.['seq'])
  }
}

function recordOf(
  { provider }: SendingContext,
  row: Row,
  records: readonly StoredSms[],
  taken: Set<string>,
): StoredSms | null {
  const sought = {
    from: String(row['from_number']),
    to: String(row['to_number']),
    text: String(row['body']),
    // The clock of the run that accepted the message may have been wrong.
    since: Number(row['entered_at']) - (provider.clockSkewMs() ?? 0) - HOUR_MS,
  }
  const record = matchRecord(sought, records, taken)
  if (record !== null) taken.add(record.providerMessageId)
  return record
}

interface BoundRow extends Record<string, string | number | null> {
  messageId: string
  jobSeq: number
  rcMessageId: string
  /** The extension that sent it; null if it is not tracked. */
  trackedBy: string | null
  /** Steady time. */
  sentAt: number
  segments: number
  now: number
}

/** Ends a quarantined message that the provider has, and its job. */
export const BIND: RowOperation<BoundRow> = {
  columns: ['messageId', 'jobSeq', 'rcMessageId', 'trackedBy', 'sentAt', 'segments', 'now'],
  key: 'messageId',
  statements: [
    trackMessages(`input.trackedBy IS NOT NULL AND messages.status IN ('queued', 'sending')`),
    countUsage({ ...OF_ENDING, counts: { sent: '1', segments: 'input.segments' }, from: endingRows('true') }),
    `UPDATE messages SET status = 'sent', rc_message_id = rcMessageId, updated_at = input.now
      FROM input WHERE messages.id = input.messageId AND messages.status IN ('queued', 'sending') RETURNING id AS key`,
    'DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM input)',
  ],
}

/** Ends a message that was sent after the copy was made. */
async function bind(
  context: SendingContext,
  scheduler: Scheduler,
  key: ExtensionOfTenant,
  row: Row,
  record: StoredSms,
): Promise<void> {
  const now = context.clock.now()
  const message = { id: String(row['id']), appId: String(row['app_id']), tenantId: key.tenantId }
  const rcMessageId = record.providerMessageId
  const bound = {
    messageId: message.id,
    jobSeq: Number(row['seq']),
    rcMessageId,
    trackedBy: context.tracking.isOn ? key.extensionId : null,
    sentAt: Math.ceil(context.clock.steady()),
    segments: segmentsOf(String(row['body'])),
    now,
  }
  const changed = await context.database.writer.row(BIND, bound)
  const entry = scheduler.entries.get(message.id)
  if (entry !== undefined) scheduler.ended(entry)
  if (changed.length === 0) return
  if (bound.trackedBy !== null) context.tracking.sent(key, bound.sentAt)
  if (row['status'] === 'queued') publishStatus(context, message, 'sending', now)
  publishStatus(context, message, 'sent', now, { rcMessageId })
}

async function release({ database }: SendingContext, scheduler: Scheduler, absent: readonly Row[]): Promise<void> {
  if (absent.length === 0) return
  const seqs = JSON.stringify(absent.map((row) => Number(row['seq'])))
  const sql = 'UPDATE jobs SET is_quarantined = 0 WHERE seq IN (SELECT value FROM json_each(?1))'
  await database.writer.write([{ sql, args: [seqs] }])
  for (const row of absent) {
    const entry = scheduler.entries.get(String(row['id']))
    if (entry === undefined) continue
    entry.isQuarantined = false
    scheduler.touch(entry.queue)
  }
}

/**
 * Finds out whether any message is quarantined, and creates a lookup job for each extension that has such a message's number.
 * Called at the start, and later for numbers that have come back or moved since.
 */
export async function findQuarantined(
  { database, clock, jobs }: SendingContext,
  quarantine: Quarantine,
): Promise<void> {
  const { rows } = await database.gate.execute('SELECT 1 FROM jobs WHERE is_quarantined = 1 LIMIT 1')
  quarantine.isActive = rows.length > 0
  if (!quarantine.isActive) return
  const now = Math.ceil(clock.steady())
  const [made] = await database.writer.write([{ sql: MAKE_LOOKUPS, args: [now] }])
  for (const row of made?.rows ?? []) jobs.scheduled('lookup', String(row['lane']), String(row['tenant_id']), 0)
}

const MAKE_LOOKUPS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT 'job_' || lower(hex(randomblob(8))), 'lookup', extension_id, tenant_id, extension_id, ?1, ?1
  FROM (SELECT DISTINCT own.extension_id, own.tenant_id FROM jobs JOIN phone_numbers AS own
    ON own.tenant_id = jobs.tenant_id AND own.number = jobs.lane WHERE jobs.is_quarantined = 1) AS found
  WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE kind = 'lookup' AND lane = found.extension_id AND tenant_id = found.tenant_id)
  RETURNING lane, tenant_id`

/** Whether the job of a waiting message is quarantined. */
export async function isQuarantined(
  { database }: SendingContext,
  { id, tenantId, from }: { id: string; tenantId: string; from: string },
): Promise<boolean> {
  const sql = `SELECT 1 FROM jobs WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3 AND is_quarantined = 1`
  return (await database.gate.execute({ sql, args: [from, tenantId, id] })).rows.length > 0
}
