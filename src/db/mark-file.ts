import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { fileNumbers } from './foreign-log.ts'

/**
 * Detects a database that was restored from a backup. A small file beside the database holds the incarnation of the database,
 * the highest numbers of attempts that were committed before a call was made, and the newest event that clients may have seen.
 * A database with lower numbers than the file, with another incarnation, or without a file was restored.
 */
export interface RestoreMark {
  /** Call after the commit of a send attempt and before the provider call. Resolves when the file is written; attempts of one commit share a write. */
  noteAttempt(seq: number): Promise<void>
  /** Call after the commit of a webhook attempt and before dialing the destination. */
  noteWebhookAttempt(seq: number): void
  /** Call with an event that clients may see; at most once a second (`mark-events.ts`), so that no commit waits for it. */
  noteEvent(seq: number): void
  close(): void
}

export const createNoMark = (): RestoreMark => ({
  noteAttempt: () => WRITTEN,
  noteWebhookAttempt() {},
  noteEvent() {},
  close() {},
})

const WRITTEN = Promise.resolve()

/** How far a database is, or was when the file was written. */
export interface Progress {
  incarnation: string
  /** The highest number of a send attempt, including the rowless ones. */
  attempt: number
  delivery: number
  /** Attempts of release 1.0.0 that had no rows. Later releases add none. */
  rowlessAttempts: number
  /** The newest event. */
  event: number
}

/** Writes text at a position of a file, or throws. */
export type WriteAt = (file: number, text: string, position: number) => unknown

/** The content of the file; null without one. */
export function readNoted(path: string): Progress | null {
  try {
    const [first = '', second = ''] = readFileSync(path, 'utf8').split('\n')
    const [incarnation, attempt, delivery, rowlessAttempts = '0'] = first.trim().split(/\s+/)
    if (incarnation === undefined || attempt === undefined || delivery === undefined) return null
    return {
      incarnation,
      attempt: Number(attempt),
      delivery: Number(delivery),
      rowlessAttempts: Number(rowlessAttempts),
      event: eventOf(second, incarnation),
    }
  } catch {
    return null
  }
}

/** The second line, which releases before 1.2.0 leave unchanged. */
const eventLine = ({ incarnation, event }: Pick<Progress, 'incarnation' | 'event'>): string =>
  `${incarnation} ${String(event).padStart(DIGITS, '0')}`

function eventOf(line: string, incarnation: string): number {
  const event = Number(line.split(' ')[1])
  return line === eventLine({ incarnation, event }) ? event : 0
}

const DIGITS = 16

/**
 * The file is overwritten in place and never truncated, so a killed process leaves a complete line. Only the first write is
 * flushed to the disk: a power failure can leave older numbers, which is safe.
 */
export function createMark(path: string, progress: Progress, writeAt: WriteAt = writeSync): RestoreMark {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const files = fileNumbers(path.replace(/\.mark$/, ''))
  const write = (): void => {
    const numbers = [progress.attempt, progress.delivery, progress.rowlessAttempts].map((n) =>
      String(n).padStart(DIGITS, '0'),
    )
    writeAt(file, `${progress.incarnation} ${numbers.join(' ')} ${files}\n${eventLine(progress)}\n`, 0)
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
    noteEvent(seq) {
      if (seq <= progress.event) return
      progress.event = seq
      write()
    },
    close: () => closeSync(file),
  }
}
