import { address, ofEveryTenant, refine } from '../state/address.ts'
import { LAST_APP, chosenApp, clientWith, me, readMe, wantedApp } from '../state/caller.ts'
import { session } from '../state/session.ts'
import { writeStored } from '../state/settings.ts'

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
export async function become(appId: string): Promise<void> {
  wantedApp.id = appId
  const found = await readMe(session.value && clientWith(session.value.token, appId))
  if (wantedApp.id !== appId) return
  writeStored('local', LAST_APP, appId)
  chosenApp.value = appId
  me.value = found
}
