import { listApps } from '../parts/app-choices.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { addressOf, param, refine } from '../state/address.ts'
import { become } from '../parts/act-as.ts'
import { me, operator } from '../state/caller.ts'
import { useLoading } from '../state/loading.ts'

/** An address that names a tenant makes the console act as one of its apps. A tenant without apps gets its first one in Setup. */
export function Entering() {
  const enter = async (): Promise<void> => {
    const tenantId = param('tenant')
    const isWanted = (): boolean => param('tenant') === tenantId
    const isEntered = await enterTenant(tenantId, isWanted)
    if (!isWanted()) return
    if (isEntered) refine({ tenant: '' })
    else location.replace(addressOf('tenants'))
  }
  const { error, again } = useLoading(enter, [])
  return <LoadFailed what="The tenant" error={error.value} again={again} />
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
