import type { Secrets } from '../core/secrets.ts'
import type { Gate } from '../db/gate.ts'

/** Stored secrets that no key of ENCRYPTION_KEYS can read, so that API keys are refused, and nothing is sent or signed. */
export interface LostSecrets {
  /** Whether no stored secret at all can be read: then these keys belong to another database. */
  isEvery: boolean
  /** Ids of apps, triggers and extensions, apps first. */
  owners: string[]
}

/** A hash begins with the id of its key, a JWE with a header of fixed length that names it. */
const KEY_OF_VALUE = `iif(substr(value, 9, 1) = ':', substr(value, 1, 8), substr(value, 1, 60))`

const STORED = `WITH stored (rank, owner, value) AS (
  SELECT 1, id, webhook_secret FROM apps WHERE is_active = 1
  UNION ALL SELECT 1, id, key_hash FROM apps WHERE is_active = 1
  UNION ALL SELECT 2, id, secret FROM triggers
  UNION ALL SELECT 3, extension_id, access_token FROM extensions WHERE status <> 'revoked'
  UNION ALL SELECT 3, extension_id, jwt FROM extensions WHERE status <> 'revoked' AND jwt IS NOT NULL)`

/** Tracks whether ENCRYPTION_KEYS has all keys that the database needs. */
export class LostKeys {
  /** As of the last check. Null if every secret can be read. */
  lost: LostSecrets | null = null

  constructor(readonly context: { gate: Pick<Gate, 'execute'>; secrets: Pick<Secrets, 'isKnown'> }) {}

  /** Reads which keys are in use. The start calls it, and then a timer: apps may get new keys, extensions be connected again. */
  async check(): Promise<LostSecrets | null> {
    this.lost = await this.#outOfReach(this.context.secrets)
    return this.lost
  }

  /** Ids of apps, triggers and extensions whose lost secrets these keys could decrypt, apps first. */
  async recoverableWith(keys: Pick<Secrets, 'isKnown'>): Promise<string[]> {
    const { secrets } = this.context
    const recoverable = await this.#outOfReach({ isKnown: (value) => secrets.isKnown(value) || !keys.isKnown(value) })
    return recoverable?.owners ?? []
  }

  async #outOfReach(secrets: Pick<Secrets, 'isKnown'>): Promise<LostSecrets | null> {
    const { rows } = await this.context.gate.execute(
      `${STORED} SELECT ${KEY_OF_VALUE} AS key, min(value) AS example FROM stored GROUP BY 1`,
    )
    const unknown = rows.filter((row) => !secrets.isKnown(String(row['example'])))
    if (unknown.length === 0) return null
    return { isEvery: unknown.length === rows.length, owners: await this.#owners(unknown) }
  }

  async #owners(unknown: readonly Readonly<Record<string, unknown>>[]): Promise<string[]> {
    const { rows } = await this.context.gate.execute({
      sql: `${STORED} SELECT owner FROM stored WHERE ${KEY_OF_VALUE} IN (SELECT value FROM json_each(?1))
        GROUP BY owner ORDER BY min(rank), owner`,
      args: [JSON.stringify(unknown.map((row) => row['key']))],
    })
    return rows.map((row) => String(row['owner']))
  }
}

const MAX_NAMED = 10

const named = (owners: readonly string[]): string =>
  `${owners.slice(0, MAX_NAMED).join(', ')}${owners.length > MAX_NAMED ? ` and ${owners.length - MAX_NAMED} more` : ''}`

/** Why the key in a file beside the database is still needed, and what to do. */
export const describeUnnamed = (path: string, owners: readonly string[]): string =>
  `ENCRYPTION_KEYS lacks the key in ${path}, which decrypts the stored secrets of ${named(owners)}: set ENCRYPTION_KEYS_FILE=${path} instead, or put that key behind your own (ENCRYPTION_KEYS=NEW,OLD) and run sgw keys rotate (docs/security.md)`

/** What is wrong, without a period, and what to do. */
export function saidOfLost({ isEvery, owners }: LostSecrets): { what: string; fix: string } {
  const keys = isEvery ? 'no key that can decrypt the stored secrets' : 'not the key that decrypts secrets'
  return {
    what: `ENCRYPTION_KEYS has ${keys} of ${named(owners)}, so their API keys are refused`,
    fix: 'Put the old key back, behind the newest (docs/security.md). If it is lost for good, set ALLOW_NEW_KEYS=on, then give each app a new key (sgw app rotate-key APP) and webhook secret (sgw app rotate-webhook-secret APP), and connect its extensions again.',
  }
}
