import type { Gateway } from '../gateway.ts'
import { tombstonesOf } from './tombstones.ts'

/** A lookup of this many takes a few milliseconds. */
const IDS_PER_READ = 500

/** Returns the provider ids of those inbound messages that were stored before, or erased. Commits nothing. */
export async function knownInbound(
  gateway: Gateway,
  tenantId: string,
  providerMessageIds: readonly string[],
): Promise<Set<string>> {
  const known = new Set<string>()
  for (let first = 0; first < providerMessageIds.length; first += IDS_PER_READ) {
    const some = providerMessageIds.slice(first, first + IDS_PER_READ)
    for (const id of await readKnown(gateway, tenantId, some)) known.add(id)
  }
  return known
}

async function readKnown(gateway: Gateway, tenantId: string, ids: readonly string[]): Promise<string[]> {
  const wanted = ids.map((providerMessageId) => ({
    id: providerMessageId,
    tombstones: tombstonesOf(gateway, { tenantId, providerMessageId }),
  }))
  const { rows } = await gateway.database.gate.execute({ sql: KNOWN, args: [tenantId, JSON.stringify(wanted)] })
  return rows.map(({ id }) => String(id))
}

const KNOWN = `SELECT wanted.value ->> 'id' AS id FROM json_each(?2) AS wanted
  WHERE EXISTS (SELECT 1 FROM messages WHERE rc_message_id = wanted.value ->> 'id' AND tenant_id = ?1 AND direction = 'inbound')
    OR EXISTS (SELECT 1 FROM json_each(wanted.value ->> 'tombstones') AS own CROSS JOIN erased_messages ON id_hash = own.value)`
