import { type Authorized, hasLinks, panel } from '../frame/panel.ts'
import { addressOf } from '../state/address.ts'
import { operator } from '../state/caller.ts'

interface AuthorizeButtonProps extends Authorized {
  /** `button primary` where it is what should be pressed. */
  class?: string | undefined
}

/** The cure of an extension that cannot send: the same words and the same dialog wherever it is offered. */
export const AuthorizeButton = ({ extension, class: className = 'button' }: AuthorizeButtonProps) =>
  hasLinks() ? (
    <button type="button" class={className} onClick={() => void (panel.value = { extension })}>
      Authorize again
    </button>
  ) : (
    <ToJwt />
  )

/** Leads to the link by which the owner of an extension connects it. */
export const InviteButton = () =>
  hasLinks() ? (
    <button type="button" class="button" onClick={() => void (panel.value = 'invite')}>
      Make invite link
    </button>
  ) : (
    <ToJwt />
  )

/** Without links only an operator connects extensions, in Setup. */
const ToJwt = () =>
  operator.value === null ? null : (
    <a class="button" href={addressOf('numbers', {})}>
      Connect with a JWT
    </a>
  )
