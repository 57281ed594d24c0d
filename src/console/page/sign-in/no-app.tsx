import { useSignal } from '@preact/signals'
import type { RegisteredApp } from '../../../client/client.ts'
import { listTenants, readChoices } from '../parts/app-choices.ts'
import { Mark } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { Secret } from '../parts/secret.tsx'
import { actAs, hasNoApp, operator } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { useLoading } from '../state/loading.ts'
import { createApp, createTenant } from './calls.ts'

/** Acts as the first app. If there is none, an operator sees a form that creates an app, and a tenant if there is none. */
export function NoApp() {
  const created = useSignal<RegisteredApp | null>(null)
  const { value: isThere, error, again } = useLoading(actAsFirst, [])
  if (error.value !== '')
    return (
      <main class="sign-in" id="main" tabIndex={-1}>
        <LoadFailed what="The apps" error={error.value} again={again} />
      </main>
    )
  if (isThere.value !== false) return null
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <Mark />
      {created.value === null ? (
        <CreateApp created={(app) => void (created.value = app)} />
      ) : (
        <NewKey app={created.value} />
      )}
    </main>
  )
}

async function actAsFirst(): Promise<boolean> {
  const [first] = await readChoices()
  if (first === undefined) return false
  await actAs(first)
  hasNoApp.value = false
  return true
}

function CreateApp({ created }: { created: (app: RegisteredApp) => void }) {
  const error = useSignal('')
  const create = async (name: string): Promise<void> => {
    try {
      const app = await createFirstApp(name)
      if (app !== null) created(app)
    } catch (reason) {
      error.value = failureText(reason)
    }
  }
  return (
    <>
      <h1>No tenant has an app yet.</h1>
      <p class="dim">An app is a program with a key of its own. It sends texts and receives answers.</p>
      {error.value !== '' && (
        <p class="notice" role="alert">
          {error.value}
        </p>
      )}
      <NameForm submit={create} />
      <p class="line copyable">
        <code>sgw app create --tenant TENANT --name NAME</code>
      </p>
    </>
  )
}

function NameForm({ submit }: { submit: (name: string) => Promise<void> }) {
  const name = useSignal('')
  const send = (event: Event): void => {
    event.preventDefault()
    void submit(name.value)
  }
  return (
    <form class="secret-form" onSubmit={send}>
      <label>
        Name of the app
        <input
          class="field"
          required
          maxLength={100}
          value={name.value}
          onInput={({ currentTarget }) => void (name.value = currentTarget.value)}
        />
      </label>
      <button type="submit" class="button primary">
        Create app
      </button>
    </form>
  )
}

/** In the first active tenant. If there is none, creates a tenant of the same name. */
async function createFirstApp(name: string): Promise<RegisteredApp | null> {
  if (operator.value === null) return null
  const tenants = await listTenants(operator.value)
  const active = tenants.find(({ status }) => status === 'active')
  const { tenantId } = active ?? (await createTenant(operator.value, name))
  return createApp(operator.value, { tenantId, name })
}

/** The key is shown only this once, so the page stays until somebody says that it is saved. */
function NewKey({ app }: { app: RegisteredApp }) {
  const line = `SGW_KEY=${app.apiKey}`
  const go = async (): Promise<void> => {
    await actAs(app)
    hasNoApp.value = false
  }
  return (
    <>
      <h1>{app.name} has a key.</h1>
      <p class="dim">It is shown only once. Put it where your program reads its environment:</p>
      <Secret text={line} label="Copy the line" />
      <button type="button" class="button primary" onClick={() => void go()}>
        I have saved it
      </button>
    </>
  )
}
