import { type Authorized, panel } from '../frame/panel.ts'

interface AuthorizeButtonProps extends Authorized {
  /** `button primary` where it is what should be pressed. */
  class?: string | undefined
}

/** The cure of an extension that cannot send: the same words and the same dialog wherever it is offered. */
export const AuthorizeButton = ({ extension, class: className = 'button' }: AuthorizeButtonProps) => (
  <button type="button" class={className} onClick={() => void (panel.value = { extension })}>
    Authorize again
  </button>
)

/** Leads to the link by which the owner of an extension connects it. */
export const InviteButton = () => (
  <button type="button" class="button" onClick={() => void (panel.value = 'invite')}>
    Make invite link
  </button>
)
