import { Mark } from '../parts/icon.tsx'
import { me } from '../state/caller.ts'
import { panel } from './panel.ts'

/** Tenant and app that the console acts as; a click lets an operator choose another one. */
export const SwitcherButton = () => (
  <button type="button" class="item switcher" aria-haspopup="dialog" onClick={() => void (panel.value = 'switcher')}>
    <Mark />
    <span class="label stack clip">
      <span class="hidden">Tenant and app: </span>
      <b class="clip">{me.value?.tenantName ?? 'sgw'}</b>
      <span class="clip small dim">{me.value?.name ?? ''}</span>
    </span>
  </button>
)
