import { Ask } from '../parts/confirm.tsx'
import { Field, type Typed } from '../parts/field.tsx'
import { readAll } from '../state/keep-reading.ts'
import { clientOf } from './acting-for.ts'

interface SetAddressProps {
  appId: string
  name: string
  /** '' if there is none. */
  url: string
}

/** Sets where an app's webhooks are posted, if this session may. The gateway says what is wrong with an address. */
export function SetAddress({ appId, name, url }: SetAddressProps) {
  const sgw = clientOf(appId)
  if (sgw === null) return null
  const store = async (typed: Typed): Promise<void> => {
    await sgw.apps.update(appId, { webhookUrl: typed('url') })
    readAll()
  }
  return (
    <Ask
      label="Set address…"
      class={url === '' ? 'button primary' : 'button quiet'}
      title="Webhook address"
      button="Set address"
      run={store}
    >
      From now on, webhooks for {name} go there, including repeated attempts.
      <Field label="Address" name="url" type="url" defaultValue={url} placeholder="https://shop.example/sms" />
    </Ask>
  )
}
