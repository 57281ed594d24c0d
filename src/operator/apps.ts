import { type SQL, and, desc, eq, lt, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { apiError, limitReached } from '../core/errors.ts'
import { MAX_LISTED } from '../core/limits.ts'
import { apps, tenants } from '../db/schema/tenants.ts'
import { appItem } from '../api/apps/app.ts'
import { deleteWsTokens, newApiKey } from '../api/apps/credentials.ts'
import { register } from '../api/apps/register.ts'
import { rotateWebhookSecret } from '../api/apps/rotate-webhook-secret.ts'
import type { RegisterBody, Registered, RotatedKey, RotatedSecret } from '../api/apps/schemas.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { AppList, AppsQuery } from './schemas.ts'
import { readTenant } from './tenants.ts'

interface OneApp {
  appId: string
}

export const createApp = (gateway: Gateway, input: RegisterBody): Promise<Registered> => register(gateway, null, input)

/**
 * The apps of all tenants, oldest first, or only those of a tenant or those registered with an app's key. If there are very many, inactive
 * ones are left out first. Errors: `tenantNotFound`.
 */
export async function listApps(
  gateway: Gateway,
  { tenantId, registeredBy }: z.output<typeof AppsQuery>,
): Promise<AppList> {
  if (tenantId !== undefined) await readTenant(gateway, tenantId)
  const rows = await gateway.database.orm
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
  const { keyHash, ...answer } = newApiKey(gateway)
  const activated = { isActive: true, keyHash, keyPrefix: answer.apiKeyPrefix }
  const isChanged = await change(gateway, appId, activated, and(eq(apps.isActive, false), lt(ACTIVE_OF_TENANT, max)))
  if (!isChanged) throw (await readApp(gateway, appId)).isActive ? apiError('appActive') : limitReached(max, 'apps')
  return answer
}

/** Gives an active app a new key; the old one stops working immediately. Errors: `appInactive`, `appNotFound`. */
export async function rotateAppKey(gateway: Gateway, { appId }: OneApp): Promise<RotatedKey> {
  const { keyHash, ...answer } = newApiKey(gateway)
  if (await change(gateway, appId, { keyHash, keyPrefix: answer.apiKeyPrefix }, IS_ACTIVE)) return answer
  await readApp(gateway, appId)
  throw apiError('appInactive')
}

/** Gives an active app a new webhook secret, which signs all later deliveries. Errors: `appInactive`, `appNotFound`. */
export async function rotateAppWebhookSecret(gateway: Gateway, { appId }: OneApp): Promise<RotatedSecret> {
  const { tenantId, isActive } = await readApp(gateway, appId)
  if (!isActive) throw apiError('appInactive')
  return rotateWebhookSecret(gateway, { appId, tenantId }, appId)
}

/** Deactivates an app: its key stops working immediately. Does nothing to an inactive app. Errors: `appNotFound`. */
export async function deactivateApp(gateway: Gateway, { appId }: OneApp): Promise<{ ok: true }> {
  const isChanged = await change(gateway, appId, { isActive: false }, IS_ACTIVE)
  if (!isChanged) await readApp(gateway, appId)
  return { ok: true }
}

const IS_ACTIVE = eq(apps.isActive, true)
const ACTIVE_OF_TENANT = sql<number>`(SELECT count(*) FROM apps AS own WHERE own.tenant_id = "apps"."tenant_id" AND own.is_active = 1)`

/** Commits a change of the app if the condition holds, empties the key cache and closes the app's sockets. False if no row changed. */
async function change(
  gateway: Gateway,
  appId: string,
  changes: Partial<typeof apps.$inferInsert>,
  condition: SQL | undefined,
): Promise<boolean> {
  const { orm } = gateway.database
  const update = orm
    .update(apps)
    .set({ ...changes, updatedAt: gateway.clock.now() })
    .where(and(eq(apps.id, appId), condition))
    .returning({ id: apps.id })
  const [changed] = await orm.batch([update, deleteWsTokens(gateway, appId)])
  if (changed.length === 0) return false
  gateway.keys.forget()
  gateway.hub.revoke({ appId })
  return true
}

/** Errors: `appNotFound`. */
async function readApp({ database }: Gateway, appId: string): Promise<{ tenantId: string; isActive: boolean }> {
  const { tenantId, isActive } = apps
  const [app] = await database.orm.select({ tenantId, isActive }).from(apps).where(eq(apps.id, appId))
  if (app === undefined) throw apiError('appNotFound')
  return app
}
