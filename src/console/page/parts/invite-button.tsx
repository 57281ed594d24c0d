import { panel } from '../frame/panel.ts'

/** Leads to the link by which the owner of an extension authorizes it again. */
export const InviteButton = ({ isFirst = false }: { isFirst?: boolean }) => (
  <button type="button" class={isFirst ? 'button primary' : 'button'} onClick={() => void (panel.value = 'invite')}>
    Make invite link
  </button>
)
