import { asc } from 'drizzle-orm'
import type { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { errorName } from '../core/log.ts'
import type { EncryptionContext } from '../core/secrets.ts'
import { extensions } from '../db/schema/connections.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { KeysBody } from './schemas.ts'

const ROWS_PER_BATCH = 50

/**
 * Encrypts every stored secret again with the newest of ENCRYPTION_KEYS, a few rows at a time, while the server runs. Skips rows that changed
 * in the meantime: the change has already used the newest key. Keyed hashes cannot be recreated without the secret itself; docs/security.md
 * says how they move to a new key. Errors: `conflict` if the server runs with other keys, or if a secret cannot be decrypted.
 */
export async function rotateKeys(
  gateway: Gateway,
  { newestKey }: z.output<typeof KeysBody>,
): Promise<{ resealed: number }> {
  if (newestKey !== null && newestKey !== undefined && newestKey !== gateway.secrets.keyId)
    throw new ApiError('conflict', OTHER_KEYS)
  const counts: Counts = { resealed: 0, broken: 0 }
  for (const column of ENCRYPTED_COLUMNS) await reencryptColumn(gateway, column, counts)
  await reencryptTokens(gateway, counts)
  gateway.log.audit({ ...counts, key: gateway.secrets.keyId }, 'secrets were encrypted with the newest key')
  if (counts.broken > 0)
    throw new ApiError(
      'conflict',
      `${counts.resealed} secrets were encrypted with the newest key, but ${counts.broken} cannot be decrypted: add their key to ENCRYPTION_KEYS, behind the newest`,
    )
  return { resealed: counts.resealed }
}

const OTHER_KEYS = 'The server runs with other ENCRYPTION_KEYS than this command: restart it with the new ones first'

interface Counts {
  resealed: number
  /** Secrets that no key can decrypt. */
  broken: number
}

/** A column of encrypted secrets, the column with the row's id, and the purpose that each secret is bound to. */
interface EncryptedColumn {
  table: string
  id: string
  column: string
  purpose: EncryptionContext['purpose']
}

const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  { table: 'apps', id: 'id', column: 'webhook_secret', purpose: 'webhook_secret' },
  { table: 'triggers', id: 'id', column: 'secret', purpose: 'trigger_secret' },
  { table: 'oauth_states', id: 'state_hash', column: 'code_verifier', purpose: 'pkce' },
]

async function reencryptColumn(gateway: Gateway, column: EncryptedColumn, counts: Counts): Promise<void> {
  const sql = `SELECT ${column.id} AS id, tenant_id, ${column.column} AS encrypted FROM ${column.table} WHERE ${column.id} > ?1 ORDER BY ${column.id} LIMIT ?2`
  for (let after = ''; ;) {
    const { rows } = await gateway.database.gate.execute({ sql, args: [after, ROWS_PER_BATCH] })
    const last = rows.at(-1)
    if (last === undefined) return
    await Promise.all(
      rows.map((row) =>
        countResult(gateway, counts, () =>
          reencryptRow(gateway, column, String(row['tenant_id']), String(row['id']), String(row['encrypted'])),
        ),
      ),
    )
    after = String(last['id'])
  }
}

async function reencryptRow(
  gateway: Gateway,
  { table, id, column, purpose }: EncryptedColumn,
  tenantId: string,
  rowId: string,
  encrypted: string,
): Promise<number> {
  const { secrets, database } = gateway
  if (secrets.isCurrent(encrypted)) return 0
  const context = { tenantId, row: rowId, purpose }
  const fresh = await secrets.encrypt(await secrets.decrypt(encrypted, context), context)
  const sql = `UPDATE ${table} SET ${column} = ?4 WHERE tenant_id = ?1 AND ${id} = ?2 AND ${column} = ?3 RETURNING ${id}`
  const [updated] = await database.writer.write([{ sql, args: [tenantId, rowId, encrypted, fresh] }])
  return updated?.rows.length ?? 0
}

/** `Tokens` encrypts the tokens of extensions, because it knows when one is being refreshed. */
async function reencryptTokens(gateway: Gateway, counts: Counts): Promise<void> {
  const { tenantId, extensionId } = extensions
  const keys = await gateway.database.orm
    .select({ tenantId, extensionId })
    .from(extensions)
    .orderBy(asc(tenantId), asc(extensionId))
  for (const key of keys) {
    await countResult(gateway, counts, () => gateway.tokens.reencrypt(key))
  }
}

/** Counts what `reencrypt` did. A secret that cannot be decrypted is counted and does not stop the others. */
async function countResult(gateway: Gateway, counts: Counts, reencrypt: () => Promise<number>): Promise<void> {
  try {
    const count = await reencrypt()
    counts.resealed += count
  } catch (error) {
    counts.broken++
    gateway.log.warn({ error: errorName(error) }, 'a secret could not be encrypted again')
  }
}
