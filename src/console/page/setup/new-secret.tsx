import { signal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Secret } from '../parts/secret.tsx'
import '../parts/dialog.css'

interface ShownSecret {
  app: string
  apiKey: string
  /** Only for a new app: a rotated key does not change the webhook secret. */
  webhookSecret?: string
}

/** A secret that is shown only once. It belongs to no view, so that it outlives the view it came from. */
const newSecret = signal<ShownSecret | null>(null)

/** Shown after the dialog that asked for it has closed, so that the focus returns to the button that opened that dialog. */
export const showSecret = (secret: ShownSecret): void => void setTimeout(() => (newSecret.value = secret))

/** A key that the gateway shows once, as lines of an `.env` file. Only the button closes it. */
export function NewSecret() {
  if (newSecret.value === null) return null
  const { app, apiKey, webhookSecret } = newSecret.value
  const lines = [`SGW_KEY=${apiKey}`, ...(webhookSecret === undefined ? [] : [`SGW_WEBHOOK_SECRET=${webhookSecret}`])]
  const close = (): void => void (newSecret.value = null)
  return (
    <Dialog title={`${app} has a new key`} close={close} isKept>
      <p>It is shown only once. Put it where the program reads its environment:</p>
      <Secret text={lines.join('\n')} label={lines.length > 1 ? 'Copy the lines' : 'Copy the line'} />
      <div class="actions">
        <Button text="I have saved it" class="button primary" run={close} />
      </div>
    </Dialog>
  )
}
