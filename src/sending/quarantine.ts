import { HOUR_MS } from '../core/limits.ts'
import { segmentsOf } from '../core/segments.ts'
import type { Row } from '../db/connection.ts'
import type { RowOperation } from '../db/writer.ts'
import { countUsage } from '../usage/roll-up.ts'
import type { ExtensionKey } from '../provider/extension-rows.ts'
import type { StoredSms } from '../provider/provider.ts'
import type { SendingContext } from './context.ts'
import { endingMessages } from './ending-messages.ts'
import type { EngineParts } from './engine-parts.ts'
import { ensureLookups } from './lookup-rows.ts'
import { type Sought, matchRecord } from './match-record.ts'
import { trackMessages } from '../tracking/state-rows.ts'
import type { Scheduler } from './scheduler.ts'

const OF_EXTENSION = `jobs.kind = 'send' AND jobs.is_quarantined = 1 AND jobs.tenant_id = ?1
  AND jobs.lane IN (SELECT number FROM phone_numbers WHERE tenant_id = ?1 AND extension_id = ?2)`

/** When a message entered its queue. Older records are not its own. */
const ENTERED_AT = 'max(messages.created_at, coalesce(messages.send_at, 0))'

/** When the oldest quarantined message of the extension entered its queue, epoch milliseconds; null if there is none. */
export async function oldestQuarantined(
  { context: { database }, quarantine }: EngineParts,
  { tenantId, extensionId }: ExtensionKey,
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

/** Without messages that had an open attempt in the backup: that attempt is looked up. */
const QUARANTINED = `SELECT jobs.seq, messages.id, messages.from_number, messages.to_number, messages.body, ${ENTERED_AT} AS entered_at
  FROM jobs JOIN messages ON messages.id = jobs.subject WHERE ${OF_EXTENSION} AND jobs.seq > ?3
    AND NOT EXISTS (SELECT 1 FROM send_attempts AS open WHERE open.message_id = messages.id AND open.closed_at IS NULL)
  ORDER BY jobs.seq LIMIT ${ROWS_AT_ONCE}`

/**
 * Ends quarantined messages that the provider has, and lets the others be sent. Goes in the order of acceptance, so that equal
 * texts match their records in order. Adds the ids of the matched records to `takenIds`.
 */
export async function clearQuarantine(
  { context, scheduler }: EngineParts,
  key: ExtensionKey,
  records: readonly StoredSms[],
  takenIds: Set<string>,
): Promise<void> {
  const { tenantId, extensionId } = key
  for (let after = 0; ;) {
    const { rows } = await context.database.gate.execute({ sql: QUARANTINED, args: [tenantId, extensionId, after] })
    const absent: Row[] = []
    const sent: Promise<void>[] = []
    for (const row of rows) {
      const record = matchRecord(soughtOf(context, row), records, takenIds)
      if (record === null) absent.push(row)
      else {
        takenIds.add(record.providerMessageId)
        sent.push(storeFoundSent(context, scheduler, key, row, record))
      }
    }
    await Promise.all([...sent, letBeSent(context, scheduler, absent)])
    if (rows.length < ROWS_AT_ONCE) return
    after = Number(rows.at(-1)?.['seq'])
  }
}

const soughtOf = ({ provider }: SendingContext, row: Row): Sought => ({
  from: String(row['from_number']),
  to: String(row['to_number']),
  text: String(row['body']),
  // The clock of the process that accepted the message may have been wrong.
  since: Number(row['entered_at']) - (provider.clockSkewMs() ?? 0) - HOUR_MS,
})

interface FoundSentRow extends Record<string, string | number | null> {
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
export const FOUND_SENT: RowOperation<FoundSentRow> = {
  columns: ['messageId', 'jobSeq', 'rcMessageId', 'trackedBy', 'sentAt', 'segments', 'now'],
  key: 'messageId',
  statements: [
    trackMessages(`input.trackedBy IS NOT NULL AND messages.status IN ('queued', 'sending')`),
    countUsage({ ...endingMessages('true'), counts: { sent: '1', segments: 'input.segments' } }),
    `UPDATE messages SET status = 'sent', rc_message_id = rcMessageId, updated_at = input.now
      FROM input WHERE messages.id = input.messageId AND messages.status IN ('queued', 'sending') RETURNING id AS key`,
    'DELETE FROM jobs WHERE seq IN (SELECT jobSeq FROM input)',
  ],
}

/** Ends a message that was sent since the backup. */
async function storeFoundSent(
  context: SendingContext,
  scheduler: Scheduler,
  key: ExtensionKey,
  row: Row,
  record: StoredSms,
): Promise<void> {
  const messageId = String(row['id'])
  const found = {
    messageId,
    jobSeq: Number(row['seq']),
    rcMessageId: record.providerMessageId,
    trackedBy: context.tracking.isOn ? key.extensionId : null,
    sentAt: Math.ceil(context.clock.steady()),
    segments: segmentsOf(String(row['body'])),
    now: context.clock.now(),
  }
  const changed = await context.database.writer.row(FOUND_SENT, found)
  const entry = scheduler.entries.get(messageId)
  if (entry !== undefined) scheduler.forget(entry)
  if (changed.length > 0 && found.trackedBy !== null) context.tracking.sent(key, found.sentAt)
}

async function letBeSent({ database }: SendingContext, scheduler: Scheduler, absent: readonly Row[]): Promise<void> {
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
 * Notes whether any message is quarantined, and creates a lookup job for each extension that has such a message's number.
 * Called at the start, and later for numbers that have come back or moved since.
 */
export async function ensureQuarantineLookups({ context, quarantine }: EngineParts): Promise<void> {
  const { database, clock, jobs } = context
  const { rows } = await database.gate.execute('SELECT 1 FROM jobs WHERE is_quarantined = 1 LIMIT 1')
  quarantine.isActive = rows.length > 0
  if (!quarantine.isActive) return
  const args = [Math.ceil(clock.steady())]
  const [ensured] = await database.writer.write([{ sql: ENSURE_LOOKUPS, args }])
  for (const row of ensured?.rows ?? []) jobs.dueAfter('lookup', String(row['lane']), String(row['tenant_id']), 0)
}

const ENSURE_LOOKUPS = `${ensureLookups(`SELECT DISTINCT own.extension_id, own.tenant_id, ?1 AS due_at, ?1 AS created_at
  FROM jobs JOIN phone_numbers AS own ON own.tenant_id = jobs.tenant_id AND own.number = jobs.lane
  WHERE jobs.is_quarantined = 1`)} RETURNING lane, tenant_id`

/** Whether the job of a message that is not in memory is quarantined. */
export async function isJobQuarantined(
  { database }: SendingContext,
  { id, tenantId, from }: { id: string; tenantId: string; from: string },
): Promise<boolean> {
  const sql = `SELECT 1 FROM jobs WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3 AND is_quarantined = 1`
  return (await database.gate.execute({ sql, args: [from, tenantId, id] })).rows.length > 0
}
