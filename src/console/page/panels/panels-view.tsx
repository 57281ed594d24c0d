import { panel } from '../frame/panel.ts'
import './panels.css'
import { Authorize } from './authorize.tsx'
import { Invite } from './invite.tsx'
import { KeysHelp } from './keys-help.tsx'
import { More } from './more.tsx'
import { Switcher } from './switcher.tsx'
import '../parts/dialog.css'

/** The panel of the frame that is open. */
export function PanelsView() {
  const { value } = panel
  if (value === 'keys') return <KeysHelp />
  if (value === 'more') return <More />
  if (value === 'invite') return <Invite />
  if (value === 'switcher') return <Switcher />
  return value === null ? null : <Authorize {...value} />
}
