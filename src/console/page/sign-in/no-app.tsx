import { useSignal } from '@preact/signals'
import type { RegisteredApp } from '../../../client/client.ts'
import { actAs, readChoices } from '../parts/app-choices.ts'
import { Button } from '../parts/button.tsx'
import { type Typed, submitted } from '../parts/field.tsx'
import { Mark } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { Refused } from '../parts/refused.tsx'
import { Secret } from '../parts/secret.tsx'
import { createApp, createTenant } from '../setup/calls.ts'
import { useAct } from '../parts/act.ts'
import { hasNoApp, readTenants } from '../state/caller.ts'
import { useLoading } from '../state/loading.ts'

/** Acts as the first app. If there is none, an operator sees a form that creates an app, and a tenant if there is none. */
export function NoApp() {
  const created = useSignal<RegisteredApp | null>(null)
  const { value: isThere, error, again } = useLoading(actAsFirst, [])
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <LoadFailed what="The apps" error={error.value} again={again} />
      {isThere.value === false && (
        <>
          <Mark />
          {created.value === null ? <CreateApp created={created} /> : <NewKey app={created.value} />}
        </>
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

function CreateApp({ created }: { created: { value: RegisteredApp | null } }) {
  const { act, isBusy, error } = useAct()
  const create = (typed: Typed) => act(async () => (created.value = await createFirstApp(typed('name'))))
  return (
    <>
      <h1>No tenant has an app yet.</h1>
      <p class="dim">An app is a program with a key of its own. It sends texts and receives answers.</p>
      <Refused error={error.value} class="notice" />
      <form class="actions secret-form" onSubmit={submitted(create)}>
        <label>
          Name of the app
          <input class="field" name="name" required maxLength={100} />
        </label>
        <button type="submit" class="button primary" disabled={isBusy.value}>
          Create app
        </button>
      </form>
      <p class="line copyable">
        <code>sgw app create --tenant TENANT --name NAME</code>
      </p>
    </>
  )
}

/** In the first active tenant. If there is none, creates a tenant of the same name. */
async function createFirstApp(name: string): Promise<RegisteredApp> {
  const { tenants } = await readTenants()
  const active = tenants.find(({ status }) => status === 'active')
  const { tenantId } = active ?? (await createTenant(name))
  return createApp({ tenantId, name })
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
      <Button text="I have saved it" class="button primary" run={go} />
    </>
  )
}
