import type { ExtensionHealth } from '../../../client/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { client } from '../state/caller.ts'
import { useLoading } from '../state/loading.ts'
import { extensionName } from './numbers-facts.ts'

interface AuthorizeProps {
  /** The one that is authorized again; null connects another one. */
  extension: ExtensionHealth | null
  close: () => void
}

/** Leads to RingCentral's sign-in by a link of its own, because the owner's sign-in is no business of this page. */
export function AuthorizeDialog({ extension, close }: AuthorizeProps) {
  const { value, error, again } = useLoading(async () => (await client.value?.connection.connectLink()) ?? '', [])
  const name = extension === null ? 'the extension' : extensionName(extension).replace('E', 'e')
  return (
    <Dialog title={extension === null ? 'Connect an extension' : `Authorize ${name} again`} close={close}>
      {error.value !== '' && <LoadFailed what="The link" error={error.value} again={again} />}
      <p>
        RingCentral asks for the sign-in of {name}, in another tab. The link works once, within 5 minutes. If somebody
        else owns the extension, close this and make an invite link to send.
      </p>
      <div class="dialog-actions">
        <button type="button" class="button quiet" onClick={close}>
          Close
        </button>
        {value.value !== null && (
          <a class="button primary" href={value.value} target="_blank" rel="noopener" onClick={close}>
            Go to RingCentral
          </a>
        )}
      </div>
    </Dialog>
  )
}
