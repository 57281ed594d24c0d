import { useComputed, useSignal } from '@preact/signals'
import type { App } from '../../../client/client.ts'
import { Empty } from '../parts/empty.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { client, me, operator } from '../state/caller.ts'
import { now, rowTime } from '../state/clock.ts'
import { AppItem } from './app-item.tsx'
import { type AppCalls, callsOfKey, callsOfOperator } from './calls.ts'
import { CreateApp } from './create-app.tsx'
import { useRead } from './read.ts'

/** The tenant's apps: their keys, and what stops when one is rotated or deactivated. */
export function Apps() {
  const { value, error, again } = useRead(async () => (await client.value?.apps.list()) ?? null, [client.value])
  const calls = useAppCalls()
  const isCreating = useSignal(false)
  const apps = value.value
  const { tenantId = null, tenantName = null } = me.value ?? {}
  if (apps === null) return error.value === '' ? null : <LoadFailed what="The apps" error={error.value} again={again} />
  const order = apps.toSorted((a, b) => Number(b.isActive) - Number(a.isActive))
  return (
    <>
      <header class="setup-head">
        <h1>{sentence(apps)}</h1>
        <div class="actions">
          <button type="button" class="button" onClick={() => void (isCreating.value = true)}>
            Create app
          </button>
        </div>
      </header>
      {apps.length === 0 && (
        <Empty
          text="An app is a program with a key of its own. It sends texts and receives answers."
          command="sgw app create --tenant TENANT --name NAME"
        />
      )}
      <ul class="things" aria-label="Apps">
        {order.map((app) => (
          <AppItem key={app.appId} app={app} calls={calls.value} changed={again} />
        ))}
      </ul>
      {isCreating.value && calls.value !== null && tenantId !== null && (
        <CreateApp
          tenant={{ tenantId, name: tenantName ?? tenantId }}
          calls={calls.value}
          created={again}
          close={() => void (isCreating.value = false)}
        />
      )}
    </>
  )
}

/** The calls of the current key or session; null until that is known. */
function useAppCalls() {
  return useComputed<AppCalls | null>(() => {
    if (operator.value !== null) return callsOfOperator(operator.value)
    return client.value === null ? null : callsOfKey(client.value)
  })
}

function sentence(apps: readonly App[]): string {
  const active = apps.filter(({ isActive }) => isActive)
  const lastUsedAt = active
    .map((app) => app.lastUsedAt ?? '')
    .toSorted()
    .at(-1)
  if (active.length === 0) return 'No app is active: nothing can be sent.'
  const [first] = active
  const who = active.length === 1 ? `${first?.name ?? ''} is active` : `${active.length} apps are active`
  return lastUsedAt === undefined || lastUsedAt === ''
    ? `${who}, and no key was used yet.`
    : `${who}. A key was last used at ${rowTime(lastUsedAt, now.value)}.`
}
