import { panel } from '../frame/panel.ts'
import { enterTenant } from '../parts/app-choices.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { addressOf, param, refine } from '../state/address.ts'
import { useLoading } from '../state/loading.ts'
import './panels.css'
import { Authorize, Invite } from './authorize.tsx'
import { KeysHelp } from './keys-help.tsx'
import { More } from './more.tsx'
import { MuteAlerts } from './mute-alerts.tsx'
import { Switcher } from './switcher.tsx'
import '../parts/dialog.css'

/** The open panel of the frame, or nothing while an address leads to another tenant. */
export default function PanelsView() {
  const { value } = panel
  if (param('tenant') !== '') return <Entering />
  if (value === 'keys') return <KeysHelp />
  if (value === 'more') return <More />
  if (value === 'invite') return <Invite />
  if (value === 'switcher') return <Switcher />
  if (value === null) return null
  return 'alerts' in value ? <MuteAlerts {...value} /> : <Authorize {...value} />
}

/** An address that names a tenant makes the console act as one of its apps. A tenant without apps gets its first one in Setup. */
function Entering() {
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
