import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { ApiError, apiError, limitReached } from '../core/errors.ts'
import { APP_ID } from '../core/ids.ts'
import { apps } from '../db/schema/tenants.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Statement } from '../db/writer.ts'
import { type App, appItem } from '../features/apps/app.ts'
import { deleteWsTokens, newApiKey } from '../features/apps/credentials.ts'
import { readApps } from '../features/apps/list-apps.ts'
import { register } from '../features/apps/register.ts'
import type { RegisterBody, Registered } from '../features/apps/schemas.ts'
import type { Gateway } from '../gateway.ts'
import { readTenant, tenantId } from './tenants.ts'

export const ListApps = z.object({ tenantId })
export const OneApp = z.object({ appId: z.string().regex(APP_ID, 'Invalid appId format') })
type OneApp = z.output<typeof OneApp>

export interface NewKey {
  appId: string
  /** Shown once. */
  apiKey: string
  apiKeyPrefix: string
}

export interface TenantApp extends App {
  /** The app whose key registered this one; null if the operator created it, or a release before 1.1.0 did. */
  registeredBy: string | null
}

export const createApp = (gateway: Gateway, input: z.output<typeof RegisterBody>): Promise<Registered> =>
  register(gateway, null, input)

export async function listTenantApps(gateway: Gateway, input: z.output<typeof ListApps>): Promise<TenantApp[]> {
  await readTenant(gateway, input.tenantId)
  return (await readApps(gateway, input)).map((row) => ({ ...appItem(row), registeredBy: row.registeredBy }))
}

/** Activates an inactive app, with a new key. Errors: `appActive`, `conflict` at the tenant's limit, `not_found`. */
export async function activateApp(gateway: Gateway, { appId }: OneApp): Promise<NewKey> {
  const max = gateway.config.maxAppsPerTenant
  const { key, keyColumns } = createKey(gateway, appId)
  const isChanged = await change(gateway, appId, {
    sql: `UPDATE apps SET is_active = 1, key_hash = ?2, key_prefix = ?3, updated_at = ?4 WHERE id = ?1 AND is_active = 0
      AND (SELECT count(*) FROM apps AS own WHERE own.tenant_id = apps.tenant_id AND own.is_active = 1) < ?5 RETURNING id`,
    args: [appId, keyColumns.keyHash, keyColumns.keyPrefix, gateway.clock.now(), max],
  })
  if (!isChanged) throw (await isActive(gateway, appId)) ? apiError('appActive') : limitReached(max, 'apps')
  return key
}

/** Gives an active app a new key; the old one stops working at once. Errors: `conflict` for an inactive app, `not_found`. */
export async function rotateAppKey(gateway: Gateway, { appId }: OneApp): Promise<NewKey> {
  const { key, keyColumns } = createKey(gateway, appId)
  const isChanged = await change(gateway, appId, updateActive(gateway, appId, keyColumns))
  if (isChanged) return key
  await isActive(gateway, appId)
  throw new ApiError('conflict', `App is not active: activate it, with a new key: sgw app activate ${appId}`)
}

/** Deactivates an app: its key stops working at once. Does nothing to an inactive app. Errors: `not_found`. */
export async function deactivateApp(gateway: Gateway, { appId }: OneApp): Promise<{ appId: string; ok: true }> {
  const isChanged = await change(gateway, appId, updateActive(gateway, appId, { isActive: false }))
  if (!isChanged) await isActive(gateway, appId)
  return { appId, ok: true }
}

function createKey(
  gateway: Gateway,
  appId: string,
): { key: NewKey; keyColumns: { keyHash: string; keyPrefix: string } } {
  const { apiKey, apiKeyPrefix, keyHash } = newApiKey(gateway)
  return { key: { appId, apiKey, apiKeyPrefix }, keyColumns: { keyHash, keyPrefix: apiKeyPrefix } }
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

/** Errors: `not_found`. */
async function isActive({ database }: Gateway, appId: string): Promise<boolean> {
  const [app] = await database.reads.select({ isActive: apps.isActive }).from(apps).where(eq(apps.id, appId))
  if (app === undefined)
    throw new ApiError('not_found', `There is no app ${appId}: list them with: sgw app list --tenant TENANT`)
  return app.isActive
}
