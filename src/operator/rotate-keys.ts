import { z } from 'zod'
import { ApiError } from '../core/errors.ts'
import { errorName } from '../core/log.ts'
import type { EncryptionContext } from '../core/secrets.ts'
import type { Gateway } from '../gateway.ts'

export const RotateKeys = z.object({
  /** Id of the newest key that the command line knows, to be compared with the server's. */
  newestKey: z.string().nullish(),
})

const ROWS_PER_BATCH = 50

/**
 * Seals every stored secret anew with the newest of ENCRYPTION_KEYS, a few rows at a time, while everything goes on:
 * a row that changed meanwhile is left as it is, because whoever changed it used the newest key already. Keyed hashes
 * cannot be made anew without the secret itself: docs/security.md tells how they move. Errors: `conflict` when the
 * server runs with other keys, or when secrets do not open.
 */
export async function rotateKeys(
  gateway: Gateway,
  { newestKey }: z.output<typeof RotateKeys>,
): Promise<{ resealed: number }> {
  if (newestKey !== null && newestKey !== undefined && newestKey !== gateway.secrets.keyId)
    throw new ApiError('conflict', OTHER_KEYS)
  const tally: Tally = { resealed: 0, broken: 0 }
  for (const column of SEALED_COLUMNS) await resealColumn(gateway, column, tally)
  await resealTokens(gateway, tally)
  gateway.log.info({ ...tally, key: gateway.secrets.keyId }, 'secrets were sealed anew')
  if (tally.broken > 0)
    throw new ApiError(
      'conflict',
      `${tally.resealed} secrets were sealed anew, but ${tally.broken} do not open: put the key that made them into ENCRYPTION_KEYS, behind the newest`,
    )
  return { resealed: tally.resealed }
}

const OTHER_KEYS = 'The server runs with other ENCRYPTION_KEYS than this command: restart it with the new ones first'

interface Tally {
  resealed: number
  /** Secrets that no key of the ring opens. */
  broken: number
}

/** A column of secrets, the rows' id, and what a secret of it is bound to. */
interface SealedColumn {
  table: string
  id: string
  column: string
  purpose: EncryptionContext['purpose']
}

const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'apps', id: 'id', column: 'webhook_secret', purpose: 'webhook_secret' },
  { table: 'triggers', id: 'id', column: 'secret', purpose: 'trigger_secret' },
  { table: 'oauth_states', id: 'state_hash', column: 'code_verifier', purpose: 'pkce' },
]

async function resealColumn(gateway: Gateway, column: SealedColumn, tally: Tally): Promise<void> {
  const sql = `SELECT ${column.id} AS id, tenant_id, ${column.column} AS sealed FROM ${column.table} WHERE ${column.id} > ?1 ORDER BY ${column.id} LIMIT ?2`
  for (let after = ''; ;) {
    const { rows } = await gateway.database.gate.execute({ sql, args: [after, ROWS_PER_BATCH] })
    const last = rows.at(-1)
    if (last === undefined) return
    await Promise.all(
      rows.map((row) =>
        counted(gateway, tally, () =>
          resealRow(gateway, column, String(row['tenant_id']), String(row['id']), String(row['sealed'])),
        ),
      ),
    )
    after = String(last['id'])
  }
}

async function resealRow(
  gateway: Gateway,
  { table, id, column, purpose }: SealedColumn,
  tenantId: string,
  rowId: string,
  sealed: string,
): Promise<number> {
  const { secrets, database } = gateway
  if (secrets.isCurrent(sealed)) return 0
  const context = { tenantId, row: rowId, purpose }
  const fresh = await secrets.encrypt(await secrets.decrypt(sealed, context), context)
  const sql = `UPDATE ${table} SET ${column} = ?4 WHERE tenant_id = ?1 AND ${id} = ?2 AND ${column} = ?3 RETURNING ${id}`
  const [updated] = await database.writer.write([{ sql, args: [tenantId, rowId, sealed, fresh] }])
  return updated?.rows.length ?? 0
}

/** An extension's tokens have a keeper of their own, who knows when they are being refreshed. */
async function resealTokens(gateway: Gateway, tally: Tally): Promise<void> {
  const { rows } = await gateway.database.gate.execute(
    'SELECT tenant_id, extension_id FROM extensions ORDER BY tenant_id, extension_id',
  )
  for (const row of rows) {
    const key = { tenantId: String(row['tenant_id']), extensionId: String(row['extension_id']) }
    await counted(gateway, tally, () => gateway.tokens.reencrypt(key))
  }
}

/** A secret that does not open must not keep the others from being sealed anew. */
async function counted(gateway: Gateway, tally: Tally, reseal: () => Promise<number>): Promise<void> {
  try {
    const count = await reseal()
    tally.resealed += count
  } catch (error) {
    tally.broken++
    gateway.log.warn({ error: errorName(error) }, 'a secret could not be sealed anew')
  }
}
