import { EXTENSION_STATUSES, type ExtensionStatus } from '../../db/schema/connections.ts'
import type { Gateway } from '../gateway.ts'

type Reads = Pick<Gateway, 'database' | 'clock'>

/** A connected extension that does not do all of its work. */
export interface TroubledExtension {
  tenantId: string
  extensionId: string
  /** `not_receiving`: it is active without a live subscription, so inbound messages come by back-fill alone. */
  trouble: Exclude<ExtensionStatus, 'active'> | 'not_receiving'
}

const IS_LIVE = `subscriptions.status = 'active' AND subscriptions.expires_at > ?1`

const TROUBLED = `SELECT tenant_id, extension_id, iif(status = 'active', 'not_receiving', status) AS trouble FROM extensions
  WHERE status <> 'active' OR NOT EXISTS (SELECT 1 FROM subscriptions WHERE subscriptions.tenant_id = extensions.tenant_id
    AND subscriptions.extension_id = extensions.extension_id AND ${IS_LIVE})`

/** Finds those of all tenants. */
export async function readTroubledExtensions({ database, clock }: Reads): Promise<TroubledExtension[]> {
  const rows = await database.reader.longRead('operator', TROUBLED, [clock.now()])
  return rows.map(({ tenant_id, extension_id, trouble }) => ({
    tenantId: String(tenant_id),
    extensionId: String(extension_id),
    trouble: trouble as TroubledExtension['trouble'],
  }))
}

const COUNTS = `SELECT ${EXTENSION_STATUSES.map((status) => `(SELECT count(*) FROM extensions WHERE status = '${status}') AS ${status}`).join()},
  count(*) FILTER (WHERE ${IS_LIVE}) AS live, count(*) AS subscriptions, min(expires_at) FILTER (WHERE ${IS_LIVE}) AS earliest
  FROM subscriptions`

/**
 * Counts connected extensions by status, and subscriptions: `active` ones bring inbound messages now, the others are being made or have
 * expired. `earliestExpiry`: of the active ones, epoch milliseconds; null if there is none.
 */
export async function countExtensions({ database, clock }: Reads) {
  const [row] = await database.reader.longRead('operator', COUNTS, [clock.now()])
  const [active, all, earliest] = [Number(row?.['live']), Number(row?.['subscriptions']), row?.['earliest']]
  const counts = EXTENSION_STATUSES.map((status) => [status, Number(row?.[status])])
  return {
    extensions: Object.fromEntries(counts) as Record<ExtensionStatus, number>,
    subscriptions: { active, pending: all - active, earliestExpiry: typeof earliest === 'number' ? earliest : null },
  }
}
