import { panel } from '../frame/panel.ts'
import '../style/panels.css'
import { Invite } from './invite.tsx'
import { KeysHelp } from './keys-help.tsx'
import { More } from './more.tsx'
import { Switcher } from './switcher.tsx'

/** The panel of the frame that is open. */
export function PanelsView() {
  if (panel.value === 'keys') return <KeysHelp />
  if (panel.value === 'more') return <More />
  if (panel.value === 'invite') return <Invite />
  return <Switcher />
}
