import { closePanel } from '../frame/panel.ts'
import { Dialog } from '../parts/dialog.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { Secret } from '../parts/secret.tsx'
import { asApp } from '../state/caller.ts'
import { now, rowTime } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'

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
        <button type="button" class="button" onClick={closePanel}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
