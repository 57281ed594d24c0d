import { type Authorized, hasLinks, panel } from '../frame/panel.ts'
import { addressOf } from '../state/address.ts'
import { operator } from '../state/caller.ts'
import { Button } from './button.tsx'

interface AuthorizeButtonProps extends Authorized {
  /** `button primary` if it should be pressed first. */
  class?: string | undefined
}

/** The action for an extension that cannot send: the same words and the same dialog everywhere. */
export const AuthorizeButton = ({ extension, tenantId, class: className = 'button' }: AuthorizeButtonProps) =>
  hasLinks() ? (
    <Button text="Authorize again" class={className} run={() => (panel.value = { extension, tenantId })} />
  ) : (
    <JwtLink text="Connect with a JWT" />
  )

/** Leads to the link with which the owner of an extension connects it. */
export const InviteButton = () =>
  hasLinks() ? (
    <Button text="Make invite link" run={() => (panel.value = 'invite')} />
  ) : (
    <JwtLink text="Connect with a JWT" />
  )

/** Leads an operator to Setup, where a JWT is entered. */
const JwtLink = ({ text }: { text: string }) =>
  operator.value === null ? null : (
    <a class="button" href={addressOf('numbers', {})}>
      {text}
    </a>
  )

/** What makes sending possible again. */
export const Cure = ({ way, extension = 'the extension' }: { way: string | null; extension?: string }) => {
  if (way === 'authorize') return <AuthorizeButton extension={extension} />
  if (way === 'jwt') return <JwtLink text="Connect with another JWT" />
  return way === 'connect' ? <InviteButton /> : null
}
