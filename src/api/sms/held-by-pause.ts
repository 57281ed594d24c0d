import { DEFAULT_PENALTY_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** A shorter time before the first call does not count as a wait. */
const SHORT_WAIT_MS = 1000
/** How many attempts of any extension are read: a busy gateway makes as many in a second, and then the reason stays unknown. */
const READ_ATTEMPTS = 2000

interface Waited {
  tenantId: string
  /** The message's first attempt. */
  first: Row
  /** From when it could have been sent, steady time. */
  freeAt: number
}

/**
 * Whether a pause held the message until its first call: another message of its extension had met a 429, which the message's own attempts
 * do not show. That is so if the 429 came while it waited, or within a minute before and no call was made in between.
 */
export async function heldByPause({ database }: Gateway, { tenantId, first, freeAt }: Waited): Promise<boolean> {
  const { seq, extension_id: extensionId, started_at: startedAt } = first
  if (Number(startedAt) - freeAt < SHORT_WAIT_MS) return false
  const { rows } = await database.gate.execute({
    sql: `SELECT closed_at, http_status FROM send_attempts
      WHERE seq < ?1 AND seq >= ?1 - ${READ_ATTEMPTS} AND tenant_id = ?2 AND extension_id = ?3
      AND (http_status = 429 OR started_at <= ?4) ORDER BY seq DESC LIMIT 1`,
    args: [Number(seq), tenantId, String(extensionId), freeAt],
  })
  // The newest of them is a 429, or a call that was made when nothing was paused.
  const [last] = rows
  return last?.['http_status'] === 429 && Number(last['closed_at']) >= freeAt - DEFAULT_PENALTY_MS
}
