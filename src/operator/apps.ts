import { and, desc, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { apiError, limitReached } from '../core/errors.ts'
import { MAX_LISTED } from '../core/limits.ts'
import { apps, tenants } from '../db/schema/tenants.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Statement } from '../db/writer.ts'
import { appItem } from '../features/apps/app.ts'
import { deleteWsTokens, newApiKey } from '../features/apps/credentials.ts'
import { register } from '../features/apps/register.ts'
import type { RegisterBody, Registered, RotatedKey } from '../features/apps/schemas.ts'
import type { Gateway } from '../gateway.ts'
import type { AppList, AppsQuery } from './schemas.ts'
import { readTenant } from './tenants.ts'

interface OneApp {
  appId: string
}

export const createApp = (gateway: Gateway, input: RegisterBody): Promise<Registered> => register(gateway, null, input)

/**
 * The apps of all tenants, oldest first; only those of a tenant, or that an app's key registered, where these are given. Of very
 * many apps, inactive ones are left out first. Errors: `tenantNotFound`.
 */
export async function listApps(
  gateway: Gateway,
  { tenantId, registeredBy }: z.output<typeof AppsQuery>,
): Promise<AppList> {
  if (tenantId !== undefined) await readTenant(gateway, tenantId)
  const rows = await gateway.database.reads
    .select({ app: apps, tenantName: tenants.name })
    .from(apps)
    .innerJoin(tenants, eq(tenants.id, apps.tenantId))
    .where(
      and(
        tenantId === undefined ? undefined : eq(apps.tenantId, tenantId),
        registeredBy === undefined ? undefined : eq(apps.registeredBy, registeredBy),
      ),
    )
    .orderBy(desc(apps.isActive), apps.seq)
    .limit(2 * MAX_LISTED)
  return {
    apps: rows
      .toSorted((one, other) => one.app.seq - other.app.seq)
      .map(({ app, tenantName }) => ({ ...appItem(app), tenantName })),
  }
}

/** Activates an inactive app, with a new key. Errors: `appActive`, `conflict` at the tenant's limit, `appNotFound`. */
export async function activateApp(gateway: Gateway, { appId }: OneApp): Promise<RotatedKey> {
  const max = gateway.config.maxAppsPerTenant
  const { answer, keyHash } = createKey(gateway)
  const isChanged = await change(gateway, appId, {
    sql: `UPDATE apps SET is_active = 1, key_hash = ?2, key_prefix = ?3, updated_at = ?4 WHERE id = ?1 AND is_active = 0
      AND (SELECT count(*) FROM apps AS own WHERE own.tenant_id = apps.tenant_id AND own.is_active = 1) < ?5 RETURNING id`,
    args: [appId, keyHash, answer.apiKeyPrefix, gateway.clock.now(), max],
  })
  if (!isChanged) throw (await isActive(gateway, appId)) ? apiError('appActive') : limitReached(max, 'apps')
  return answer
}

/** Gives an active app a new key; the old one stops working at once. Errors: `appInactive`, `appNotFound`. */
export async function rotateAppKey(gateway: Gateway, { appId }: OneApp): Promise<RotatedKey> {
  const { answer, keyHash } = createKey(gateway)
  const update = updateActive(gateway, appId, { keyHash, keyPrefix: answer.apiKeyPrefix })
  if (await change(gateway, appId, update)) return answer
  await isActive(gateway, appId)
  throw apiError('appInactive')
}

/** Deactivates an app: its key stops working at once. Does nothing to an inactive app. Errors: `appNotFound`. */
export async function deactivateApp(gateway: Gateway, { appId }: OneApp): Promise<{ ok: true }> {
  const isChanged = await change(gateway, appId, updateActive(gateway, appId, { isActive: false }))
  if (!isChanged) await isActive(gateway, appId)
  return { ok: true }
}

function createKey(gateway: Gateway): { answer: RotatedKey; keyHash: string } {
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  return { answer: { apiKey, apiKeyPrefix }, keyHash }
}

/** An update of the app, if it is active. */
function updateActive(gateway: Gateway, appId: string, changes: Partial<typeof apps.$inferInsert>): Statement {
  const update = build
    .update(apps)
    .set({ ...changes, updatedAt: gateway.clock.now() })
    .where(and(eq(apps.id, appId), eq(apps.isActive, true)))
    .returning({ id: apps.id })
  return statementOf(update)
}

/** Commits a change of the app's key, empties the key cache and closes the app's sockets. False if no row changed. */
async function change(gateway: Gateway, appId: string, statement: Statement): Promise<boolean> {
  const [changed] = await gateway.database.writer.write([statement, deleteWsTokens(appId)])
  if (changed?.rows.length === 0) return false
  gateway.keys.forget()
  gateway.hub.revoke({ appId })
  return true
}

/** Errors: `appNotFound`. */
async function isActive({ database }: Gateway, appId: string): Promise<boolean> {
  const [app] = await database.reads.select({ isActive: apps.isActive }).from(apps).where(eq(apps.id, appId))
  if (app === undefined) throw apiError('appNotFound')
  return app.isActive
}
