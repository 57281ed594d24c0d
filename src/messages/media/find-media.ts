import type { Gate } from '../../db/gate.ts'
import { FIND, type StoredMedia, storedMedia } from './media-rows.ts'

/** Media of a tenant by these ids, in their order; null if one of them is unknown, another tenant's, or expired at `now`. */
export async function findMedia(
  gate: Gate,
  tenantId: string,
  ids: readonly string[],
  now: number,
): Promise<readonly StoredMedia[] | null> {
  const { rows } = await gate.execute({ sql: FIND, args: [JSON.stringify(ids), tenantId, now] })
  const byId = new Map(rows.map((row) => [String(row['id']), storedMedia(row)]))
  const found = ids.map((id) => byId.get(id)).filter((one) => one !== undefined)
  return found.length === ids.length ? found : null
}
