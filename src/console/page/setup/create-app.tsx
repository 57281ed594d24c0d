import { useSignal } from '@preact/signals'
import { NameDialog } from './name-dialog.tsx'
import type { AppCalls } from './calls.ts'
import { showSecret } from './new-secret.tsx'

interface CreateAppProps {
  tenant: { tenantId: string; name: string }
  calls: AppCalls
  created: () => void
  close: () => void
}

/** Creates an app, and shows its key only this once. */
export function CreateApp({ tenant: { tenantId, name: tenantName }, calls, created, close }: CreateAppProps) {
  const webhookUrl = useSignal('')
  const create = async (name: string): Promise<void> => {
    const app = await calls.create({ tenantId, name, webhookUrl: webhookUrl.value.trim() || null })
    showSecret({ app: app.name, apiKey: app.apiKey, webhookSecret: app.webhookSecret })
    created()
  }
  return (
    <NameDialog
      title="Create an app"
      text={`An app is a program with a key of its own. It sends and receives the texts of ${tenantName}.`}
      label="Name of the app"
      button="Create app"
      run={create}
      close={close}
    >
      <label class="asked">
        Webhook address, if it has one
        <input
          class="field"
          type="url"
          maxLength={2000}
          placeholder="https://"
          value={webhookUrl.value}
          onInput={({ currentTarget }) => void (webhookUrl.value = currentTarget.value)}
        />
      </label>
    </NameDialog>
  )
}
