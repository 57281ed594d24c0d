import { type Authorized, closePanel, panel } from '../frame/panel.ts'
import { enterTenant } from '../parts/app-choices.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { Secret } from '../parts/secret.tsx'
import { asApp } from '../state/caller.ts'
import { now, rowTime } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'

/**
 * Leads to RingCentral's sign-in through a separate link, so that this page never sees the owner's password, or to a link for somebody else.
 */
export function Authorize({ extension, tenantId = '' }: Authorized) {
  const read = async (): Promise<string> => {
    // Otherwise the link would be for the tenant that the console acts for.
    if (tenantId !== '' && !(await enterTenant(tenantId)))
      throw new Error('Its tenant has no active app. Give it one in Setup first')
    return asApp().connection.connectLink()
  }
  const { value, error, again } = useLoading(read, [])
  const name = extension ?? 'the extension'
  return (
    <Dialog title={extension === null ? 'Connect an extension' : `Authorize ${name} again`} close={closePanel}>
      <LoadFailed what="The link" error={error.value} again={again} />
      <p>
        RingCentral asks for the sign-in of {name}, in another tab. The link works once, within 5 minutes. If somebody
        else owns the extension, make an invite link and send it to them.
      </p>
      <div class="actions">
        <Button text="Close" class="button quiet" run={closePanel} />
        {value.value !== null && (
          <>
            <Button text="Make invite link" run={() => (panel.value = 'invite')} />
            <a class="button primary" href={value.value} target="_blank" rel="noopener" onClick={closePanel}>
              Go to RingCentral
            </a>
          </>
        )}
      </div>
    </Dialog>
  )
}

/** How long an invitation can be accepted. */
const INVITE_MS = 7 * 86_400_000

/** Makes a link by which the owner of an extension authorizes it, and shows it to copy. */
export function Invite() {
  const { value, error, again } = useLoading(() => asApp().connection.inviteLink(), [])
  return (
    <Dialog title="Invite link" close={closePanel}>
      <LoadFailed what="The link" error={error.value} again={again} />
      {value.value !== null && (
        <>
          <p>
            Send it to the owner of the extension, who opens it and signs in to RingCentral. It works once, until{' '}
            {rowTime(now.peek() + INVITE_MS, now.peek())}.
          </p>
          <Secret text={value.value} label="Copy the link" />
        </>
      )}
      <div class="actions">
        <Button text="Close" run={closePanel} />
      </div>
    </Dialog>
  )
}
