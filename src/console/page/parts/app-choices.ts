import type { App } from '../../../client/client.ts'
import { address, ofEveryTenant, refine } from '../state/address.ts'
import {
  asOperator,
  chosenApp,
  clientWith,
  LAST_APP,
  me,
  operator,
  readMe,
  readTenants,
  wantedApp,
} from '../state/caller.ts'
import { session } from '../state/session.ts'
import { writeStored } from '../state/settings.ts'

/** An app that an operator can act as. */
export interface AppChoice extends App {
  tenantName: string
}

/** Reads the active apps of all active tenants, the first tenant's first. */
export async function readChoices(): Promise<readonly AppChoice[]> {
  const [{ tenants }, apps] = await Promise.all([readTenants(), listApps()])
  const byTenant = Map.groupBy(apps, ({ tenantId }) => tenantId)
  return tenants.flatMap(({ tenantId, status }) => (status === 'active' ? (byTenant.get(tenantId) ?? []) : []))
}

/** The active apps of all tenants or of one, the oldest first. */
async function listApps(tenantId?: string): Promise<AppChoice[]> {
  const query = { tenantId }
  const { apps } = await asOperator().request<{ apps: AppChoice[] }>('GET', '/v1/operator/apps', { query })
  return apps.filter(({ isActive }) => isActive)
}

/**
 * Acts as the oldest active app of a tenant, unless the console already acts for the tenant, or by then the tenant is no longer wanted.
 * Resolves with false if there is none.
 */
export async function enterTenant(tenantId: string, isWanted = (): boolean => true): Promise<boolean> {
  if (me.value?.tenantId === tenantId) return true
  // An app's key can act as no other one.
  const [app] = operator.value === null ? [] : await listApps(tenantId)
  if (app !== undefined && isWanted()) await become(app.appId)
  return app !== undefined
}

/** Acts as another app from now on. */
export async function actAs({ appId, tenantId }: { appId: string; tenantId: string }): Promise<void> {
  if (me.value !== null && me.value.tenantId !== tenantId) leaveTenant()
  await become(appId)
}

/** Removes what belongs to one tenant from the address: the open message, numbers, apps, users and searched texts. */
function leaveTenant(): void {
  const own = Object.keys(address.value.params).filter((name) => !ofEveryTenant.has(name))
  refine(Object.fromEntries(own.map((name) => [name, ''])))
}

/** Acts as an app, regardless of the app that the address names, once the gateway says whose it is: unless another one was chosen since. */
async function become(appId: string): Promise<void> {
  wantedApp.id = appId
  const found = await readMe(session.value && clientWith(session.value.token, appId))
  if (wantedApp.id !== appId) return
  writeStored('local', LAST_APP, appId)
  chosenApp.value = appId
  me.value = found
}
