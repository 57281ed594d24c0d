import { panel } from '../frame/panel.ts'
import { param } from '../state/address.ts'
import './panels.css'
import { Authorize } from './authorize.tsx'
import { Entering } from './entering.tsx'
import { Invite } from './invite.tsx'
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
