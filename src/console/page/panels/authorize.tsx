import { type Authorized, closePanel, panel } from '../frame/panel.ts'
import { Dialog } from '../parts/dialog.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { asApp } from '../state/caller.ts'
import { enterTenant } from './entering.tsx'
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
        <button type="button" class="button quiet" onClick={closePanel}>
          Close
        </button>
        {value.value !== null && (
          <>
            <button type="button" class="button" onClick={() => void (panel.value = 'invite')}>
              Make invite link
            </button>
            <a class="button primary" href={value.value} target="_blank" rel="noopener" onClick={closePanel}>
              Go to RingCentral
            </a>
          </>
        )}
      </div>
    </Dialog>
  )
}
