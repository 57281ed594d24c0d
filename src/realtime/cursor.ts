/** A position in the event log: after which event a reader goes on. */
export interface Position {
  /** All events of the rows up to this one were given. */
  seq: number
  /** And so many of the next row, which can stand for two. */
  given: number
}

/** Positions of another epoch say nothing: the database was restored from a backup since. 16 hex digits. */
export type Epoch = string

/** Opaque to the reader, at most 64 characters. */
export const encodeCursor = (epoch: Epoch, { seq, given }: Position): string =>
  Buffer.from(`${epoch}.${seq}.${given}`).toString('base64url')

const CURSOR = /^[\w-]{1,64}$/
const CONTENT = /^([0-9a-f]{16})\.(0|[1-9]\d{0,14})\.(\d)$/

/** Null for what `encodeCursor` has not made. */
export function decodeCursor(cursor: string): (Position & { epoch: Epoch }) | null {
  if (!CURSOR.test(cursor)) return null
  const [, epoch, seq, given] = CONTENT.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (epoch === undefined) return null
  const position = { seq: Number(seq), given: Number(given) }
  return encodeCursor(epoch, position) === cursor ? { epoch, ...position } : null
}
