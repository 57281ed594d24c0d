import { useSignal } from '@preact/signals'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { client } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'

/** Makes a link by which the owner of an extension authorizes it again, and shows it to copy. */
export function InviteLink() {
  const link = useSignal('')
  const error = useSignal('')
  const make = async (): Promise<void> => {
    error.value = ''
    try {
      link.value = (await client.value?.connection.inviteLink()) ?? ''
    } catch (reason) {
      error.value = failureText(reason)
    }
  }
  return (
    <>
      <button type="button" class="button" onClick={() => void make()}>
        Make invite link
      </button>
      {error.value !== '' && (
        <span class="bad" role="alert">
          {error.value}
        </span>
      )}
      {link.value !== '' && (
        <Dialog title="Invite link" close={() => void (link.value = '')}>
          <p>Send it to the owner of the extension, who opens it and signs in to RingCentral. It works once.</p>
          <p class="invite-link">
            <span class="mono">{link.value}</span>
            <CopyButton text={link.value} label="Copy the link" />
          </p>
          <div class="dialog-actions">
            <button type="button" class="button" onClick={() => void (link.value = '')}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
