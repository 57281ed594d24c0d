import { Mark } from '../parts/icon.tsx'
import { me } from '../state/caller.ts'
import { panel } from './panel.ts'

/** Tenant and app that the console acts as; a click lets an operator choose another one. */
export const SwitcherButton = () => (
  <button type="button" class="switcher" aria-haspopup="dialog" onClick={() => void (panel.value = 'switcher')}>
    <Mark />
    <span class="label">
      <span class="hidden">Tenant and app: </span>
      <b>{me.value?.tenantName ?? 'sgw'}</b>
      <span class="small dim">{me.value?.name ?? ''}</span>
    </span>
  </button>
)
