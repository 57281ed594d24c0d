import { Ask } from '../parts/confirm.tsx'
import { Field, type Typed } from '../parts/field.tsx'
import { readAll } from '../state/keep-reading.ts'
import { createApp } from './calls.ts'
import { showSecret } from './new-secret.tsx'

/** Creates an app of a tenant, and shows its key only this once. */
export function CreateApp({ tenantId, name, class: className }: { tenantId: string; name: string; class: string }) {
  const create = async (typed: Typed): Promise<void> => {
    const app = await createApp({ tenantId, name: typed('name'), webhookUrl: typed('webhookUrl') || null })
    showSecret({ app: app.name, apiKey: app.apiKey, webhookSecret: app.webhookSecret })
    readAll()
  }
  return (
    <Ask label="Create app" class={className} title="Create an app" button="Create app" run={create}>
      An app is a program with a key of its own. It sends and receives the texts of {name}.
      <Field label="Name of the app" name="name" required maxLength={100} />
      <Field
        label="Webhook address, if it has one"
        name="webhookUrl"
        type="url"
        maxLength={2000}
        placeholder="https://"
      />
    </Ask>
  )
}
