/** A position in the event log. A reader continues after it. */
export interface Position {
  /** All events of the rows up to this one were returned. */
  seq: number
  /** How many events of the next row were returned as well. A row can have two. */
  returned: number
}

/**
 * Identifies a history of the database. A restore from a backup begins a new one, and positions of others are invalid. 16
 * hex digits.
 */
export type Epoch = string

const EPOCH_DIGITS = 16

/** The epoch is the incarnation of the database without its prefix `boot_`. A restore from a backup makes a new one. */
export const EPOCH_SQL = `(SELECT value FROM facts WHERE name = 'incarnation')`

/** The epoch, by the value of `EPOCH_SQL`. */
export const epochOf = (value: unknown): Epoch =>
  (typeof value === 'string' ? value : '').slice(-EPOCH_DIGITS).padStart(EPOCH_DIGITS, '0')

/** The cursor of a position: opaque to clients, at most 64 characters. */
export const encodeCursor = (epoch: Epoch, { seq, returned }: Position): string =>
  Buffer.from(`${epoch}.${seq}.${returned}`).toString('base64url')

const CURSOR = /^[\w-]{1,64}$/
const CONTENT = /^([0-9a-f]{16})\.(0|[1-9]\d{0,14})\.(\d)$/

/** The position of a cursor; null if `encodeCursor` did not make it. */
export function decodeCursor(cursor: string): (Position & { epoch: Epoch }) | null {
  if (!CURSOR.test(cursor)) return null
  const [, epoch, seq, returned] = CONTENT.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (epoch === undefined) return null
  const position = { seq: Number(seq), returned: Number(returned) }
  return encodeCursor(epoch, position) === cursor ? { epoch, ...position } : null
}
