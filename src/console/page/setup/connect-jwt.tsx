import { useSignal } from '@preact/signals'
import { hasLinks } from '../frame/panel.ts'
import { Confirm } from '../parts/confirm.tsx'
import { me, operator } from '../state/caller.ts'
import { connectByJwt } from './calls.ts'

interface ConnectJwtProps {
  /** The words of the button. */
  text: string
  class?: string
  connected: () => void
}

/** Connects the extension of a JWT to the shown tenant. Only an operator may do this, so an app's key sees no button. */
export function ConnectJwt({ text, class: className = 'button', connected }: ConnectJwtProps) {
  const isAsked = useSignal(false)
  if (operator.value === null) return null
  return (
    <>
      <button type="button" class={className} onClick={() => void (isAsked.value = true)}>
        {text}
      </button>
      {isAsked.value && <JwtDialog connected={connected} close={() => void (isAsked.value = false)} />}
    </>
  )
}

/** The JWT is only in this field, which disappears once the JWT is sent: the gateway never shows it. */
function JwtDialog({ connected, close }: { connected: () => void; close: () => void }) {
  const jwt = useSignal('')
  const { tenantId = null, tenantName = null } = me.value ?? {}
  const connect = async (): Promise<void> => {
    if (operator.value === null || tenantId === null) return
    await connectByJwt(operator.value, { tenantId, jwt: jwt.value })
    connected()
  }
  return (
    <Confirm title="Connect with a JWT" button="Connect" run={connect} close={close}>
      A JWT connects its user’s extension to {tenantName}, without a login in a browser. Make one in RingCentral’s
      developer console (Credentials, Create JWT), for an app whose authentication is “JWT auth flow”. It is stored
      encrypted and never shown again. To connect somebody else’s extension,{' '}
      {hasLinks() ? 'make an invite link instead.' : 'use a JWT of theirs: a link needs PUBLIC_URL.'}
      <label class="asked">
        JWT
        <input
          class="field"
          type="password"
          required
          autoComplete="off"
          spellcheck={false}
          value={jwt.value}
          onInput={({ currentTarget }) => void (jwt.value = currentTarget.value)}
        />
      </label>
    </Confirm>
  )
}
