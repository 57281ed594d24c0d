import type { App } from '../../../client/client.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { asApp, client, me } from '../state/caller.ts'
import { latest } from '../parts/ends.ts'
import { now, rowTime } from '../state/clock.ts'
import { useReading } from '../state/keep-reading.ts'
import { AppItem } from './app-item.tsx'
import { READ_EVERY_MS } from './calls.ts'
import { CreateApp } from './create-app.tsx'

/** The tenant's apps: their keys, and what stops when one is rotated or deactivated. */
export function Apps() {
  const read = () => asApp().apps.list()
  const { value, error, again } = useReading({ read, everyMs: READ_EVERY_MS }, [client.value])
  const apps = value.value
  const { tenantId, tenantName } = me.value ?? {}
  if (apps === null) return <LoadFailed what="The apps" error={error.value} again={again} />
  return (
    <>
      <header class="setup-head">
        <h1>{sentence(apps)}</h1>
        <div class="actions">
          {tenantId && <CreateApp tenantId={tenantId} name={tenantName ?? tenantId} class="button" />}
        </div>
      </header>
      <ul class="things" aria-label="Apps">
        {apps
          .toSorted((a, b) => Number(b.isActive) - Number(a.isActive))
          .map((app) => (
            <AppItem key={app.appId} app={app} />
          ))}
      </ul>
    </>
  )
}

function sentence(apps: readonly App[]): string {
  const active = apps.filter(({ isActive }) => isActive)
  const [first] = active
  if (first === undefined) return 'No app is active: nothing can be sent.'
  const lastUsedAt = latest(active.map((app) => app.lastUsedAt))
  const who = active.length === 1 ? `${first.name} is active` : `${active.length} apps are active`
  return lastUsedAt === null
    ? `${who}, and no key was used yet.`
    : `${who}. A key was last used at ${rowTime(lastUsedAt, now.value)}.`
}
