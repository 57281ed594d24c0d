import { eq } from 'drizzle-orm'
import { EXTENSION_STATUSES, type ExtensionStatus } from '../../db/schema/connections.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import { SOCKETS } from '../../provider/socket-rows.ts'
import type { Gateway } from '../gateway.ts'

type Reads = Pick<Gateway, 'database' | 'clock' | 'lifecycle'>

/** A connected extension that fails to do some of its work. */
export interface TroubledExtension {
  tenantId: string
  extensionId: string
  /** `not_receiving`: it is active without a live subscription, so inbound messages arrive only by back-fill. */
  trouble: Exclude<ExtensionStatus, 'active'> | 'not_receiving'
}

/** A socket has ended with the server that opened it, and its row says so only after the next start. */
/** Subscriptions to message threads bring no messages, but make back-fills come sooner. */
const IS_OF_MESSAGES = `subscriptions.topic = 'messages'`
const IS_LIVE = `${IS_OF_MESSAGES} AND subscriptions.status = 'active' AND subscriptions.expires_at > ?1 AND (?2 OR subscriptions.token_hash NOT LIKE '${SOCKETS}')`
const liveAt = ({ clock, lifecycle }: Reads): [now: number, works: number] => [clock.now(), lifecycle.working ? 1 : 0]

/** Nobody needs the extensions of an inactive tenant, so they are neither counted nor reported. */
const IS_IN_USE = `tenant_id NOT IN (SELECT id FROM tenants WHERE status = 'inactive')`

const TROUBLED = `SELECT tenant_id, extension_id, iif(status = 'active', 'not_receiving', status) AS trouble FROM extensions
  WHERE ${IS_IN_USE} AND (status <> 'active' OR NOT EXISTS (SELECT 1 FROM subscriptions
    WHERE subscriptions.tenant_id = extensions.tenant_id AND subscriptions.extension_id = extensions.extension_id AND ${IS_LIVE}))`

/** Finds them for all tenants that are not inactive. */
export async function readTroubledExtensions(reads: Reads): Promise<TroubledExtension[]> {
  const rows = await reads.database.reader.longRead('operator', TROUBLED, liveAt(reads))
  return rows.map(({ tenant_id, extension_id, trouble }) => ({
    tenantId: String(tenant_id),
    extensionId: String(extension_id),
    trouble: trouble as TroubledExtension['trouble'],
  }))
}

const MAYBE_FAILING = `SELECT tenant_id, extension_id, status FROM extensions WHERE ${IS_IN_USE} AND (status = 'refresh_failed'
  OR status = 'active' AND (extension_id IN (SELECT value FROM json_each(?1))
    OR numbers_read_at IS NULL AND (tenant_id, extension_id) NOT IN (SELECT tenant_id, extension_id FROM phone_numbers)
    OR EXISTS (SELECT 1 FROM json_each(campaigns) WHERE value ->> 'failsSince' IS NOT NULL)))`

/**
 * Finds extensions whose tokens could not be refreshed, whose numbers could not be read, or with a failing campaign, and the active ones with
 * these ids.
 */
export async function readMaybeFailing(
  { database }: Reads,
  extensionIds: readonly string[],
): Promise<(ExtensionKey & { status: ExtensionStatus })[]> {
  const rows = await database.reader.longRead('operator', MAYBE_FAILING, [JSON.stringify(extensionIds)])
  return rows.map(({ tenant_id, extension_id, status }) => ({
    tenantId: String(tenant_id),
    extensionId: String(extension_id),
    status: status as ExtensionStatus,
  }))
}

const MAYBE_UNABLE = `SELECT tenant_id FROM extensions WHERE tenant_id IN (SELECT id FROM tenants WHERE status = 'active')
  GROUP BY tenant_id HAVING sum(status = 'active' AND extension_id NOT IN (SELECT value FROM json_each(?1))
    AND (tenant_id, extension_id) IN (SELECT tenant_id, extension_id FROM phone_numbers)) = 0 LIMIT ?2`

/** Finds active tenants that have extensions, all of them without valid tokens, without a number, or with one of these ids. */
export async function readMaybeUnable(
  { database }: Pick<Reads, 'database'>,
  extensionIds: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await database.reader.longRead('operator', MAYBE_UNABLE, [JSON.stringify(extensionIds), limit])
  return rows.map(({ tenant_id }) => String(tenant_id))
}

const ENDING_JWTS = `SELECT tenant_id, extension_id FROM extensions
  WHERE jwt_expires_at <= ?1 AND status <> 'revoked' AND ${IS_IN_USE} ORDER BY jwt_expires_at LIMIT ?2`

/** Finds the extensions in use whose JWT ends by then, epoch milliseconds; the earliest first. */
export const readEndingJwts = (reads: Pick<Reads, 'database'>, by: number, limit: number): Promise<ExtensionKey[]> =>
  readKeys(reads, ENDING_JWTS, by, limit)

const ENDING_SESSIONS = `SELECT tenant_id, extension_id FROM extensions
  WHERE session_ends_at <= ?1 AND jwt IS NULL AND status <> 'revoked' AND ${IS_IN_USE} ORDER BY session_ends_at LIMIT ?2`

/** Finds the extensions in use whose session ends by then, and that no JWT keeps. */
export const readEndingSessions = (
  reads: Pick<Reads, 'database'>,
  by: number,
  limit: number,
): Promise<ExtensionKey[]> => readKeys(reads, ENDING_SESSIONS, by, limit)

async function readKeys(
  { database }: Pick<Reads, 'database'>,
  query: string,
  by: number,
  limit: number,
): Promise<ExtensionKey[]> {
  const rows = await database.reader.longRead('operator', query, [by, limit])
  return rows.map(({ tenant_id, extension_id }) => ({
    tenantId: String(tenant_id),
    extensionId: String(extension_id),
  }))
}

const COUNTS = `SELECT ${EXTENSION_STATUSES.map((status) => `(SELECT count(*) FROM extensions WHERE status = '${status}' AND ${IS_IN_USE}) AS ${status}`).join()},
  (SELECT min(jwt_expires_at) FROM extensions WHERE status <> 'revoked' AND ${IS_IN_USE}) AS jwt_end,
  (SELECT count(*) FROM extensions WHERE jwt IS NOT NULL AND status <> 'revoked' AND ${IS_IN_USE}) AS jwts,
  count(*) FILTER (WHERE ${IS_LIVE}) AS live, count(*) AS subscriptions, min(expires_at) FILTER (WHERE ${IS_LIVE}) AS earliest
  FROM subscriptions WHERE ${IS_OF_MESSAGES} AND ${IS_IN_USE}
    AND (tenant_id, extension_id) NOT IN (SELECT tenant_id, extension_id FROM extensions WHERE status = 'revoked')`

/** The tenants that have left. */
export async function readInactiveTenants({ orm }: Reads['database']): Promise<Set<string>> {
  const rows = await orm.select({ id: tenants.id }).from(tenants).where(eq(tenants.status, 'inactive'))
  return new Set(rows.map(({ id }) => id))
}

/**
 * Counts connected extensions by status, and subscriptions: `active` ones bring inbound messages now, the others are being created or have
 * expired. Subscriptions of inactive tenants and of revoked extensions do not count: nobody waits for them. `earliestExpiry`: of the active
 * subscriptions, epoch milliseconds; null if there are none. `jwts` and `earliestJwtEnd`: of extensions that are not revoked; the latter is
 * null if no JWT has an end.
 */
export async function countExtensions(reads: Reads) {
  const [row] = await reads.database.reader.longRead('operator', COUNTS, liveAt(reads))
  const [active, all] = [Number(row?.['live']), Number(row?.['subscriptions'])]
  const counts = EXTENSION_STATUSES.map((status) => [status, Number(row?.[status])])
  return {
    extensions: Object.fromEntries(counts) as Record<ExtensionStatus, number>,
    subscriptions: { active, pending: all - active, earliestExpiry: numberOrNull(row?.['earliest']) },
    jwts: Number(row?.['jwts']),
    earliestJwtEnd: numberOrNull(row?.['jwt_end']),
  }
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)
