import { panel } from '../frame/panel.ts'

/** Leads to the link by which the owner of an extension authorizes it again. */
export const InviteButton = () => (
  <button type="button" class="button" onClick={() => void (panel.value = 'invite')}>
    Make invite link
  </button>
)
