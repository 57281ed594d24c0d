import { BACK_FILL_MAX_AGE_MS, DAY_MS } from '../../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../../db/batches.ts'
import type { Database } from '../../db/database.ts'
import type { Statement } from '../../db/writer.ts'
import type { Gateway } from '../gateway.ts'

// A tombstone is the keyed hash of the id of an erased inbound message. The provider's store still has that message, so
// without the tombstone a back-fill or a repeated event would store it again. Without the encryption key it reveals nothing.

export interface ErasedMessage {
  tenantId: string
  providerMessageId: string
}

/** Whether a database may hold tombstones. Most hold none, and hashing takes a tenth of the time of an inbound message. */
const mayHoldAny = new WeakMap<Database, boolean>()

/** JSON: the hashes under which a tombstone of this message may be stored, one for each encryption key. */
export function tombstonesOf({ database, secrets }: Gateway, message: ErasedMessage): string {
  const mayHold = mayHoldAny.get(database)
  if (mayHold === undefined) void checkForAny(database)
  return mayHold === false ? NONE : JSON.stringify(secrets.hashes(nameOf(message)))
}

const NONE = '[]'

async function checkForAny(database: Database): Promise<void> {
  const hasAny = await database.gate.execute('SELECT 1 FROM erased_messages LIMIT 1').then(
    ({ rows }) => rows.length > 0,
    () => true,
  )
  // An erasure during the read has set it already.
  if (!mayHoldAny.has(database)) mayHoldAny.set(database, hasAny)
}

/** The statement that stores tombstones. Commit it before the messages are deleted. */
export function buryMessages({ database, secrets, clock }: Gateway, messages: readonly ErasedMessage[]): Statement {
  mayHoldAny.set(database, true)
  const hashes = messages.map((message) => secrets.hash(nameOf(message)))
  return {
    sql: `INSERT INTO erased_messages (id_hash, erased_at) SELECT value, ?2 FROM json_each(?1) WHERE true
      ON CONFLICT (id_hash) DO UPDATE SET erased_at = excluded.erased_at`,
    args: [JSON.stringify(hashes), clock.now()],
  }
}

const nameOf = ({ tenantId, providerMessageId }: ErasedMessage): string => `erased ${tenantId}/${providerMessageId}`

/** A back-fill lists nothing older. The extra day is for clocks that differ. */
const TOMBSTONE_AGE_MS = BACK_FILL_MAX_AGE_MS + DAY_MS

/** Deletes tombstones that no back-fill can need anymore. Returns how many it deleted. */
export function purgeTombstones(gateway: Gateway): Promise<number> {
  const before = gateway.clock.now() - TOMBSTONE_AGE_MS
  const sql = `DELETE FROM erased_messages WHERE id_hash IN (SELECT id_hash FROM erased_messages WHERE erased_at < ?1
    ORDER BY erased_at LIMIT ?2) RETURNING id_hash`
  return inBatches(gateway, async () => {
    const [deleted] = await gateway.database.writer.write([{ sql, args: [before, ROWS_PER_BATCH] }])
    const count = deleted?.rows.length ?? 0
    return { count, last: count < ROWS_PER_BATCH }
  })
}
