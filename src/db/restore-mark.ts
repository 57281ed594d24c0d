import { EXIT, StartError } from '../core/start-error.ts'
import { HOUR_MS } from '../core/limits.ts'
import type { Gate } from './gate.ts'
import { lostDatabase } from './lost-database.ts'
import { type Progress, type RestoreMark, type WriteAt, createMark, readNoted } from './mark-file.ts'
import { NEWEST_EVENT } from './stored-events.ts'
import type { Writer } from './writer.ts'

/** Compares database and file. `restored` is true once per restore: a new incarnation is committed before this returns. */
export async function openRestoreMark(
  { gate, writer }: { gate: Gate; writer: Writer },
  path: string,
  fresh: { incarnation: string; now: number },
  writeAt?: WriteAt,
): Promise<{ restoreMark: RestoreMark; restored: boolean }> {
  const stored = await readProgress(gate)
  const noted = readNoted(path)
  if (stored === null && noted !== null && noted.attempt + noted.delivery + noted.event > 0)
    throw new StartError(EXIT.badConfig, lostDatabase(path.replace(/\.mark$/, '')))
  const restored = stored !== null && !isContinuation(stored, noted)
  const incarnation = stored === null || restored ? fresh.incarnation : stored.incarnation
  // The file is written before the commit: after a crash in between, the next start finds the same result.
  const mark = createMark(
    path,
    { attempt: 0, delivery: 0, rowlessAttempts: 0, event: 0, ...stored, incarnation },
    writeAt,
  )
  if (incarnation !== stored?.incarnation) await storeIncarnation(writer, incarnation, restored ? fresh.now : null)
  return { restoreMark: mark, restored }
}

/** Whether the file describes this database, and the database has everything committed before the file was written. */
export const isContinuation = (stored: Progress, noted: Progress | null): boolean =>
  noted !== null &&
  noted.incarnation === stored.incarnation &&
  noted.rowlessAttempts <= stored.rowlessAttempts &&
  // Release 1.0.0 stored numbers that it never wrote to the file, so the sums alone could hide a lost row.
  noted.attempt - noted.rowlessAttempts <= stored.attempt - stored.rowlessAttempts &&
  noted.delivery <= stored.delivery &&
  noted.event <= stored.event

/** Returns null for a new database. */
export const readProgress = async (gate: Pick<Gate, 'batch'>): Promise<Progress | null> =>
  progressOf((await gate.batch([FACTS, SEQUENCES, NEWEST_EVENT])).map(({ rows }) => rows))

const FACTS = `SELECT name, value FROM facts WHERE name IN ('incarnation', 'begun', 'durability')`
const SEQUENCES = `SELECT name, seq FROM sqlite_sequence WHERE name IN ('send_attempts', 'webhook_attempts')`

function progressOf([facts = [], sequences = [], newest = []]: readonly (readonly Readonly<
  Record<string, unknown>
>[])[]): Progress | null {
  const factOf = (name: string): unknown => facts.find((row) => row['name'] === name)?.['value']
  const incarnation = factOf('incarnation')
  if (typeof incarnation !== 'string') return null
  const seqOf = (name: string): number => Number(sequences.find((row) => row['name'] === name)?.['seq'] ?? 0)
  const rowlessAttempts = Number(factOf('begun') ?? 0)
  const event = Number(newest[0]?.['seq'] ?? 0)
  return { incarnation, attempt: seqOf('send_attempts'), delivery: seqOf('webhook_attempts'), rowlessAttempts, event }
}

/** A fact of a copy whose waiting messages another gateway may have sent. The next start looks them up. */
export const LOOK_UP_FACT = 'look_up'

/** The conditions of a start. `epoch`: the lease's, or null without a lease. `now`: epoch milliseconds. */
interface Terms {
  isReplicated: boolean
  epoch: number | null
  now: number
}

/**
 * Records in the database whether from now on each commit is stored at the replica before it is acknowledged, and the database's epoch. Until
 * then a copy of the database may be incomplete. The same commit quarantines the waiting messages if another gateway may have sent them: the
 * copy says so, or this start leaves a lease that others may take. Returns whether it does.
 */
export async function noteDurability(
  { gate, writer }: { gate: Gate; writer: Writer },
  { isReplicated, epoch, now }: Terms,
): Promise<boolean> {
  const wanted: readonly [name: string, value: string | null][] = [
    ['durability', isReplicated ? 'replica' : null],
    ['epoch', epoch === null ? null : String(epoch)],
    [LOOK_UP_FACT, null],
  ]
  const names = wanted.map(([name]) => `'${name}'`).join()
  const rows = await gate.values(`SELECT name, value FROM facts WHERE name IN (${names})`)
  const noted = new Map(rows.map(([name, value]) => [String(name), String(value)]))
  const changed = wanted.filter(([name, value]) => (noted.get(name) ?? null) !== value)
  if (changed.length === 0) return false
  const mayBeSent = noted.has(LOOK_UP_FACT) || (noted.has('epoch') && epoch === null)
  await writer.write([
    ...changed.map(([name, value]) =>
      value === null
        ? { sql: `DELETE FROM facts WHERE name = ?1`, args: [name] }
        : { sql: NOTE_FACT, args: [name, value] },
    ),
    ...(mayBeSent ? [quarantineWaiting(now)] : []),
  ])
  return mayBeSent
}

/**
 * Writes the mark of a database that was just restored from the newest copy, if nothing was lost: every commit was stored there before it was
 * acknowledged. The next start then finds that the database continues where it ended. Keeps an existing mark, which knows more. `read` runs a
 * query on the database. Returns whether it wrote one.
 */
export function markIfNothingLost(path: string, read: (sql: string) => Readonly<Record<string, unknown>>[]): boolean {
  const [facts, sequences, newest] = [read(FACTS), read(SEQUENCES), read(NEWEST_EVENT)]
  const isReplicated = facts.some(({ name, value }) => name === 'durability' && value === 'replica')
  const progress = progressOf([facts, sequences, newest])
  if (!isReplicated || progress === null || readNoted(path) !== null) return false
  createMark(path, progress).close()
  return true
}

/** Stores the incarnation. After a restore, the same commit quarantines the waiting messages. */
async function storeIncarnation(writer: Writer, incarnation: string, restoredAt: number | null): Promise<void> {
  await writer.write([
    { sql: NOTE_FACT, args: ['incarnation', incarnation] },
    ...(restoredAt === null
      ? []
      : [
          { sql: NOTE_FACT, args: ['restored_at', String(restoredAt)] },
          quarantineWaiting(restoredAt),
          { sql: OPEN_WAITING_DELIVERIES, args: [] },
          { sql: RESOLVE_FAILURES_BEFORE, args: [] },
        ]),
  ])
}

/** `?1` name, `?2` value. */
export const NOTE_FACT =
  'INSERT INTO facts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

/**
 * Stores which messages may have been sent since the backup: all that it has, except those scheduled for later. The clock of that process may
 * have been an hour off. `attempt`: the newest attempt that the backup has. `messages/sending/quarantine.ts` reads this.
 */
export const quarantineWaiting = (restoredAt: number) => ({ sql: QUARANTINE, args: [restoredAt + HOUR_MS] })

const QUARANTINE = `INSERT INTO facts (name, value) SELECT 'quarantine', json_object(
    'first', 0, 'last', (SELECT coalesce(max(seq), 0) FROM messages), 'sendAt', ?1,
    'attempt', (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'send_attempts'))
  WHERE true ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** The boot id of attempts that may have been made since the backup. */
export const RESTORED_BOOT = 'restored'

/**
 * Deliveries that waited in the backup may have been POSTed since. Each gets an open attempt, which the start closes as interrupted. Scheduled
 * retries stay: they may be repeated, and receivers recognize them by delivery id.
 */
const OPEN_WAITING_DELIVERIES = `INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id,
    url, boot_id, attempted_at)
  SELECT subject, (SELECT coalesce(max(attempt_number), 0) + 1 FROM webhook_attempts WHERE delivery_id = subject), jobs.tenant_id,
    CASE WHEN lane LIKE 'trg_%' THEN 'trigger' ELSE 'app' END, lane, substr(subject, 1, instr(subject, ':') - 1),
    'cor_' || substr(jobs.id, 5), coalesce(triggers.callback_url, apps.webhook_url, ''), '${RESTORED_BOOT}', jobs.created_at
  FROM jobs LEFT JOIN apps ON apps.id = lane LEFT JOIN triggers ON triggers.id = lane
  WHERE (jobs.kind = 'webhook' OR (jobs.kind = 'webhook_retry' AND is_last = 1))
    AND NOT EXISTS (SELECT 1 FROM webhook_attempts WHERE delivery_id = subject AND outcome IS NULL)
  ON CONFLICT DO NOTHING`

/** The failures before these attempts are no longer the latest of their deliveries. */
const RESOLVE_FAILURES_BEFORE = `UPDATE webhook_attempts SET is_unresolved = NULL WHERE is_unresolved = 1
  AND EXISTS (SELECT 1 FROM webhook_attempts AS own WHERE own.delivery_id = webhook_attempts.delivery_id AND own.outcome IS NULL)`
