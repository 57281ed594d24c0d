import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** A position in the event log. A reader continues after it. */
export interface Position {
  /** All events of the rows up to this one were returned. */
  seq: number
  /** How many events of the next row were returned as well. A row can have two. */
  returned: number
}

/**
 * Identifies a history of the database. A restore from a backup begins a new history, which makes positions of others invalid. 16 hex digits.
 */
export type Epoch = string

const EPOCH_DIGITS = 16

/** The epoch is the incarnation of the database without its prefix `boot_`. A restore from a backup makes a new one. */
export const EPOCH_SQL = `(SELECT value FROM facts WHERE name = 'incarnation')`

/** The epoch, by the value of `EPOCH_SQL`. */
export const epochOf = (value: unknown): Epoch =>
  (typeof value === 'string' ? value : '').slice(-EPOCH_DIGITS).padStart(EPOCH_DIGITS, '0')

// The bytes of a cursor: a random nonce, then the encrypted epoch, `seq` and `returned`, then the tag.
const NONCE = 12
const EPOCH = 8
const SEQ = 6
const CONTENT = EPOCH + SEQ + 1
const TAG = 16
const CIPHER = 'aes-256-gcm'

/**
 * Cursors: positions that clients store, at most 64 characters. A position counts the events of all tenants, so it is encrypted: clients can
 * neither read how many there were nor forge a position.
 */
export class Cursors {
  readonly #keys: readonly Uint8Array[]

  /** `encryptionKeys`: 32 bytes each, newest first. The newest key makes cursors, and each key reads its own. */
  constructor(encryptionKeys: readonly Uint8Array[]) {
    this.#keys = encryptionKeys.map((key) => new Uint8Array(hkdfSync('sha256', key, '', 'sgw cursor', 32)))
  }

  encode(epoch: Epoch, { seq, returned }: Position): string {
    const [key] = this.#keys
    if (key === undefined) throw new Error('Cannot make a cursor: there is no encryption key')
    const content = Buffer.alloc(CONTENT)
    content.write(epoch, 'hex')
    content.writeUIntBE(seq, EPOCH, SEQ)
    content.writeUInt8(returned, EPOCH + SEQ)
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv(CIPHER, key, nonce)
    return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]).toString('base64url')
  }

  /** The position of a cursor; null if no key of the ring made it. */
  decode(cursor: string): (Position & { epoch: Epoch }) | null {
    const bytes = Buffer.from(cursor, 'base64url')
    if (bytes.length !== NONCE + CONTENT + TAG || bytes.toString('base64url') !== cursor) return null
    for (const key of this.#keys) {
      const content = decrypted(key, bytes)
      if (content === null) continue
      const epoch = content.toString('hex', 0, EPOCH)
      return { epoch, seq: content.readUIntBE(EPOCH, SEQ), returned: content.readUInt8(EPOCH + SEQ) }
    }
    return null
  }
}

/** The content of a cursor; null if another key made it. */
function decrypted(key: Uint8Array, bytes: Buffer): Buffer | null {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE))
  decipher.setAuthTag(bytes.subarray(-TAG))
  const content = decipher.update(bytes.subarray(NONCE, -TAG))
  try {
    return Buffer.concat([content, decipher.final()])
  } catch {
    return null
  }
}
