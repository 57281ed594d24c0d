import { hasLinks } from '../frame/panel.ts'
import { Ask } from '../parts/confirm.tsx'
import { Field, type Typed } from '../parts/field.tsx'
import { asOperator, me, operator } from '../state/caller.ts'
import { readAll } from '../state/keep-reading.ts'

/**
 * Connects the extension of a JWT to the shown tenant. Only an operator may do this, so an app's key sees no button. The JWT is only in
 * this field, which disappears once the JWT is sent: the gateway never shows it.
 */
export function ConnectJwt({ text, class: className = 'button' }: { text: string; class?: string }) {
  const { tenantId, tenantName } = me.value ?? {}
  if (operator.value === null) return null
  const connect = async (typed: Typed): Promise<void> => {
    await asOperator().request('POST', '/v1/operator/extensions', { body: { tenantId, jwt: typed('jwt') } })
    readAll()
  }
  return (
    <Ask label={text} class={className} title="Connect with a JWT" button="Connect" run={connect}>
      A JWT connects its user’s extension to {tenantName}, without a login in a browser. Make one in RingCentral’s
      developer console (Credentials, Create JWT), for an app whose authentication is “JWT auth flow”. It is stored
      encrypted and never shown again. To connect somebody else’s extension,{' '}
      {hasLinks() ? 'make an invite link instead.' : 'use a JWT of theirs: a link needs PUBLIC_URL.'}
      <Field label="JWT" name="jwt" type="password" required spellcheck={false} />
    </Ask>
  )
}
