import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { whileSignedIn } from '../state/caller.ts'

interface SetAddressProps {
  /** Acts as the app. */
  sgw: Sgw
  appId: string
  name: string
  /** '' if there is none. */
  url: string
  changed: () => void
}

/** Sets where an app's webhooks are posted. The gateway says what is wrong with an address. */
export function SetAddress({ sgw, appId, name, url, changed }: SetAddressProps) {
  const isAsked = useSignal(false)
  const typed = useSignal(url)
  const store = async (): Promise<void> => {
    await whileSignedIn(sgw.apps.update(appId, { webhookUrl: typed.value.trim() }))
    changed()
  }
  return (
    <>
      <button
        type="button"
        class={url === '' ? 'button primary' : 'button quiet'}
        onClick={() => void (isAsked.value = true)}
      >
        Set address…
      </button>
      {isAsked.value && (
        <Confirm title="Webhook address" button="Set address" run={store} close={() => void (isAsked.value = false)}>
          From now on, webhooks for {name} go there, including repeated attempts.
          <label class="asked">
            Address
            <input
              class="field"
              type="url"
              value={typed.value}
              placeholder="https://shop.example/sms"
              onInput={({ currentTarget }) => void (typed.value = currentTarget.value)}
            />
          </label>
        </Confirm>
      )}
    </>
  )
}
