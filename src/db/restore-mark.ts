import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Gate } from './gate.ts'

/**
 * Tells a database that was brought back from a backup from the one that went on. A small file beside the database
 * holds how far it has come: its incarnation and the highest numbers of attempts that were committed before a call was made.
 * A database that knows less than its file, or has none, comes from a copy.
 */
export interface RestoreMark {
  /** After the commit of a send attempt, before the provider is called: settles when it is written. Those of one commit are written at once. */
  noteAttempt(seq: number): Promise<void>
  /** After the commit of a webhook attempt, before the destination is dialled. */
  noteDelivery(seq: number): void
  close(): void
}

export const createNoMark = (): RestoreMark => ({ noteAttempt: () => WRITTEN, noteDelivery() {}, close() {} })

const WRITTEN = Promise.resolve()

interface Progress {
  incarnation: string
  attempt: number
  delivery: number
}

/** Writes text at a place of a file, or throws. */
type WriteAt = (file: number, text: string, position: number) => unknown

/** Compares database and file. `restored` is true once: the new incarnation is committed before this answers. */
export async function openRestoreMark(
  gate: Gate,
  path: string,
  fresh: { incarnation: string; now: number },
  writeAt: WriteAt = writeSync,
): Promise<{ mark: RestoreMark; restored: boolean }> {
  const stored = await readProgress(gate)
  const noted = readNoted(path)
  const restored = stored !== null && !isContinuation(stored, noted)
  const incarnation = stored === null || restored ? fresh.incarnation : stored.incarnation
  // Before the database: one that ends in between is a new one, or a restored one, at the next start too.
  const mark = createMark(path, { attempt: 0, delivery: 0, ...stored, incarnation }, writeAt)
  if (incarnation !== stored?.incarnation) await storeIncarnation(gate, incarnation, restored ? fresh.now : null)
  return { mark, restored }
}

const isContinuation = (stored: Progress, noted: Progress | null): boolean =>
  noted !== null &&
  noted.incarnation === stored.incarnation &&
  noted.attempt <= stored.attempt &&
  noted.delivery <= stored.delivery

/** Null for a database that has just been made. */
async function readProgress(gate: Gate): Promise<Progress | null> {
  const [facts, sequences] = await gate.batch([
    `SELECT name, value FROM facts WHERE name = 'incarnation'`,
    `SELECT name, seq FROM sqlite_sequence WHERE name IN ('send_attempts', 'deliveries')`,
  ])
  const incarnation = facts?.rows[0]?.['value']
  if (typeof incarnation !== 'string') return null
  const seqOf = (name: string): number => Number(sequences?.rows.find((row) => row['name'] === name)?.['seq'] ?? 0)
  return { incarnation, attempt: seqOf('send_attempts'), delivery: seqOf('deliveries') }
}

/** On a restore every message that has not ended is quarantined, in the same commit. */
async function storeIncarnation(gate: Gate, incarnation: string, restoredAt: number | null): Promise<void> {
  await gate.batch([
    { sql: NOTE_FACT, args: ['incarnation', incarnation] },
    ...(restoredAt === null
      ? []
      : [
          { sql: NOTE_FACT, args: ['restored_at', String(restoredAt)] },
          `UPDATE jobs SET is_quarantined = 1 WHERE kind = 'send'`,
          INTERRUPTED_DELIVERIES,
          `DELETE FROM jobs WHERE kind = 'webhook'`,
        ]),
  ])
}

const NOTE_FACT =
  'INSERT INTO facts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'

/** Deliveries that waited when the copy was made may have been POSTed since: they are recorded, never repeated. */
const INTERRUPTED_DELIVERIES = `INSERT INTO deliveries (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id,
    attempted_at, outcome, error_class, error_message, duration_ms)
  SELECT subject, jobs.tenant_id, CASE WHEN lane LIKE 'trg_%' THEN 'trigger' ELSE 'app' END, lane,
    substr(subject, 1, instr(subject, ':') - 1), 'cor_' || substr(jobs.id, 5),
    coalesce(triggers.callback_url, apps.webhook_url, ''), '', jobs.created_at, 'network_error', 'Interrupted',
    'The database was restored from a backup; the request may have been made before', 0
  FROM jobs LEFT JOIN apps ON apps.id = lane LEFT JOIN triggers ON triggers.id = lane
  WHERE jobs.kind = 'webhook'
  ON CONFLICT (delivery_id) DO NOTHING`

function readNoted(path: string): Progress | null {
  try {
    const [incarnation, attempt, delivery] = readFileSync(path, 'utf8').trim().split(/\s+/)
    if (incarnation === undefined || attempt === undefined || delivery === undefined) return null
    return { incarnation, attempt: Number(attempt), delivery: Number(delivery) }
  } catch {
    return null
  }
}

/**
 * Written in place: it must outlive the process, while a power loss can only make it older. So it is never emptied, and a
 * new one is flushed before it counts.
 */
function createMark(path: string, progress: Progress, writeAt: WriteAt): RestoreMark {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const write = (): void => {
    const numbers = [progress.attempt, progress.delivery].map((number) => String(number).padStart(16, '0'))
    // Release 1.0.0 wrote a third number behind these.
    writeAt(file, `${progress.incarnation} ${numbers.join(' ')} ${'0'.repeat(16)}\n`, 0)
  }
  /** Not all that was noted is in the file. */
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
      // Behind all that the same commit lets go on; once more where it fails, because all of them hang on it.
      return isBehind ? (writing ??= WRITTEN.then(catchUp).catch(catchUp)) : WRITTEN
    },
    noteDelivery(seq) {
      if (seq <= progress.delivery) return
      progress.delivery = seq
      write()
    },
    close: () => closeSync(file),
  }
}
