import { type Authorized, hasLinks, panel } from '../frame/panel.ts'
import { addressOf } from '../state/address.ts'
import { operator } from '../state/caller.ts'

interface AuthorizeButtonProps extends Authorized {
  /** `button primary` where it is what should be pressed. */
  class?: string | undefined
}

/** The cure of an extension that cannot send: the same words and the same dialog wherever it is offered. */
export const AuthorizeButton = ({ extension, tenantId, class: className = 'button' }: AuthorizeButtonProps) =>
  hasLinks() ? (
    <button type="button" class={className} onClick={() => void (panel.value = { extension, tenantId })}>
      Authorize again
    </button>
  ) : (
    <JwtLink text="Connect with a JWT" />
  )

/** Leads to the link by which the owner of an extension connects it. */
export const InviteButton = () =>
  hasLinks() ? (
    <button type="button" class="button" onClick={() => void (panel.value = 'invite')}>
      Make invite link
    </button>
  ) : (
    <JwtLink text="Connect with a JWT" />
  )

/** Leads an operator to Setup, where a JWT is entered. */
export const JwtLink = ({ text }: { text: string }) =>
  operator.value === null ? null : (
    <a class="button" href={addressOf('numbers', {})}>
      {text}
    </a>
  )
