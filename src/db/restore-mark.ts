import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { EXIT, StartError } from '../core/start-error.ts'
import { HOUR_MS } from '../core/limits.ts'
import type { Gate } from './gate.ts'
import { fileNumbers } from './foreign-log.ts'
import { lostDatabase } from './lost-database.ts'
import type { Writer } from './writer.ts'

/**
 * Detects a database that was restored from a backup. A small file beside the database holds the incarnation of the database
 * and the highest numbers of attempts that were committed before a call was made. A database with lower numbers than the
 * file, with another incarnation, or without a file was restored.
 */
export interface RestoreMark {
  /** Call after the commit of a send attempt and before the provider call. Resolves when the file is written; attempts of one commit share a write. */
  noteAttempt(seq: number): Promise<void>
  /** Call after the commit of a webhook attempt and before the destination is dialled. */
  noteWebhookAttempt(seq: number): void
  close(): void
}

export const createNoMark = (): RestoreMark => ({ noteAttempt: () => WRITTEN, noteWebhookAttempt() {}, close() {} })

const WRITTEN = Promise.resolve()

interface Progress {
  incarnation: string
  /** The highest number of a send attempt, including the rowless ones. */
  attempt: number
  delivery: number
  /** Attempts of release 1.0.0 that had no rows. Later releases add none. */
  rowlessAttempts: number
}

/** Writes text at a position of a file, or throws. */
type WriteAt = (file: number, text: string, position: number) => unknown

/** Compares database and file. `restored` is true once per restore: a new incarnation is committed before this returns. */
export async function openRestoreMark(
  { gate, writer }: { gate: Gate; writer: Writer },
  path: string,
  fresh: { incarnation: string; now: number },
  writeAt: WriteAt = writeSync,
): Promise<{ restoreMark: RestoreMark; restored: boolean }> {
  const stored = await readProgress(gate)
  const noted = readNoted(path)
  if (stored === null && noted !== null && noted.attempt + noted.delivery > 0)
    throw new StartError(EXIT.badConfig, lostDatabase(path.replace(/\.mark$/, '')))
  const restored = stored !== null && !isContinuation(stored, noted)
  const incarnation = stored === null || restored ? fresh.incarnation : stored.incarnation
  // The file is written before the commit: after a crash in between, the next start finds the same result.
  const mark = createMark(path, { attempt: 0, delivery: 0, rowlessAttempts: 0, ...stored, incarnation }, writeAt)
  if (incarnation !== stored?.incarnation) await storeIncarnation(writer, incarnation, restored ? fresh.now : null)
  return { restoreMark: mark, restored }
}

/** Whether a database is the one that the file is about, and lacks nothing that was committed before the file was written. */
export const isContinuation = (stored: Progress, noted: Progress | null): boolean =>
  noted !== null &&
  noted.incarnation === stored.incarnation &&
  noted.rowlessAttempts <= stored.rowlessAttempts &&
  // Release 1.0.0 stored numbers that it never wrote to the file, so the sums alone could hide a lost row.
  noted.attempt - noted.rowlessAttempts <= stored.attempt - stored.rowlessAttempts &&
  noted.delivery <= stored.delivery

/** Returns null for a new database. */
export const readProgress = async (gate: Pick<Gate, 'batch'>): Promise<Progress | null> =>
  progressOf((await gate.batch([FACTS, SEQUENCES])).map(({ rows }) => rows))

const FACTS = `SELECT name, value FROM facts WHERE name IN ('incarnation', 'begun', 'durability')`
const SEQUENCES = `SELECT name, seq FROM sqlite_sequence WHERE name IN ('send_attempts', 'webhook_attempts')`

function progressOf([facts = [], sequences = []]: readonly (readonly Readonly<
  Record<string, unknown>
>[])[]): Progress | null {
  const factOf = (name: string): unknown => facts.find((row) => row['name'] === name)?.['value']
  const incarnation = factOf('incarnation')
  if (typeof incarnation !== 'string') return null
  const seqOf = (name: string): number => Number(sequences.find((row) => row['name'] === name)?.['seq'] ?? 0)
  const rowlessAttempts = Number(factOf('begun') ?? 0)
  return { incarnation, attempt: seqOf('send_attempts'), delivery: seqOf('webhook_attempts'), rowlessAttempts }
}

/** A fact of a copy whose waiting messages another gateway may have sent. The next start looks them up. */
export const LOOK_UP_FACT = 'look_up'

/** Under what a start works. `epoch`: that of the lease, or null without one. `now`: epoch milliseconds. */
interface Terms {
  isReplicated: boolean
  epoch: number | null
  now: number
}

/**
 * Notes in the database whether each commit from now on is stored at the replica before it is acknowledged, and of which epoch the database
 * is. Until then a copy of the database may lack something. The same commit quarantines the waiting messages if another gateway may have sent
 * them: the copy says so, or this start leaves a lease that others may take. Returns whether it does.
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
 * Writes the mark of a database that was just restored from the newest copy, if nothing was lost: every commit was stored there before
 * it was acknowledged. The next start then finds that the database goes on where it ended. A mark that is there is left: it knows more.
 * `read` runs a query on the database. Returns whether it wrote one.
 */
export function markIfNothingLost(path: string, read: (sql: string) => Readonly<Record<string, unknown>>[]): boolean {
  const [facts, sequences] = [read(FACTS), read(SEQUENCES)]
  const isReplicated = facts.some(({ name, value }) => name === 'durability' && value === 'replica')
  const progress = progressOf([facts, sequences])
  if (!isReplicated || progress === null || readNoted(path) !== null) return false
  createMark(path, progress, writeSync).close()
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
        ]),
  ])
}

/** `?1` name, `?2` value. */
export const NOTE_FACT =
  'INSERT INTO facts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

/**
 * Stores which messages may have been sent since the backup: all that it has, without those scheduled for later. The clock of that
 * process may have been an hour off. `attempt`: the newest attempt that the backup has. `messages/sending/quarantine.ts` reads this.
 */
export const quarantineWaiting = (restoredAt: number) => ({ sql: QUARANTINE, args: [restoredAt + HOUR_MS] })

const QUARANTINE = `INSERT INTO facts (name, value) SELECT 'quarantine', json_object(
    'first', 0, 'last', (SELECT coalesce(max(seq), 0) FROM messages), 'sendAt', ?1,
    'attempt', (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'send_attempts'))
  WHERE true ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** The boot id of attempts that may have been made since the backup. */
export const RESTORED_BOOT = 'restored'

/**
 * Deliveries that waited in the backup may have been POSTed since. Each gets an open attempt, which the start closes
 * as interrupted. A retry of a schedule is left: it may be made again, and receivers know it by its delivery id.
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

/** What the file says; null without one. */
export function readNoted(path: string): Progress | null {
  try {
    const [incarnation, attempt, delivery, rowlessAttempts = '0'] = readFileSync(path, 'utf8').trim().split(/\s+/)
    if (incarnation === undefined || attempt === undefined || delivery === undefined) return null
    return {
      incarnation,
      attempt: Number(attempt),
      delivery: Number(delivery),
      rowlessAttempts: Number(rowlessAttempts),
    }
  } catch {
    return null
  }
}

/**
 * The file is overwritten in place and never truncated, so a killed process leaves a complete line. Only the first write is
 * flushed to the disk: a power failure can leave older numbers, which is safe.
 */
function createMark(path: string, progress: Progress, writeAt: WriteAt): RestoreMark {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const files = fileNumbers(path.replace(/\.mark$/, ''))
  const write = (): void => {
    const numbers = [progress.attempt, progress.delivery, progress.rowlessAttempts].map((n) =>
      String(n).padStart(16, '0'),
    )
    writeAt(file, `${progress.incarnation} ${numbers.join(' ')} ${files}\n`, 0)
  }
  /** A number is not in the file yet. */
  let isBehind = false
  let writing: Promise<void> | null = null
  const catchUp = (): void => {
    writing = null
    write()
    isBehind = false
  }
  write()
  fsyncSync(file)
  return {
    noteAttempt(seq) {
      if (seq > progress.attempt) {
        progress.attempt = seq
        isBehind = true
      }
      // In a microtask, so that all attempts of one commit share the write. A failed write is repeated once.
      return isBehind ? (writing ??= WRITTEN.then(catchUp).catch(catchUp)) : WRITTEN
    },
    noteWebhookAttempt(seq) {
      if (seq <= progress.delivery) return
      progress.delivery = seq
      write()
    },
    close: () => closeSync(file),
  }
}
