import { isFresh } from '../../core/lease.ts'
import { probeStorage } from '../../db/storage-check.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** What `/ready` answers. `standby` comes from a gateway that is not open yet: `server/standby/listener.ts`. */
export const READY_STATES = [
  'ready',
  'standby',
  'starting',
  'draining',
  'storage unavailable',
  'lease not renewed',
  'encryption key missing',
  'database does not answer',
] as const
export type ReadyState = (typeof READY_STATES)[number]

/** Ready means: the gateway accepts and does work, and its database answers and can be written. */
export async function readyStateOf(gateway: Gateway): Promise<ReadyState> {
  const { lifecycle, database, lease, lostKeys, config } = gateway
  if (lifecycle.draining) return 'draining'
  if (!lifecycle.working) return 'starting'
  // Another gateway may be active by now, and a balancer must see only one.
  if (!isFresh(lease)) return 'lease not renewed'
  if (await probeStorage(gateway)) return 'storage unavailable'
  if (lostKeys.lost !== null && !config.allowNewKeys) return 'encryption key missing'
  const { rows } = await database.gate.execute('SELECT 1').catch(() => ({ rows: [] }))
  return rows.length === 1 ? 'ready' : 'database does not answer'
}
