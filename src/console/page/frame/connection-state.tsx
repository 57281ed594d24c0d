import { me } from '../state/caller.ts'
import { capital, clockTime, duration, now, rowTime } from '../state/clock.ts'
import { connection } from '../state/live.ts'
import { hasPhone, isAll } from './views.ts'

/** The page of all tenants needs no events, which a suspended tenant refuses. It reports read failures itself. */
const isOnline = (): boolean => connection.value.online || isAll.value

/** Whether events arrive: `Live`, or since when not, and when the next attempt comes. */
export function ConnectionState() {
  const online = isOnline()
  return (
    <div class="line small dim connection" role="status" title={online ? liveText() : sinceText()}>
      <span class={online ? 'dot' : 'dot off'} />
      <span class="label">{online ? liveText() : <OfflineText />}</span>
    </div>
  )
}

/** Without events, the bar under each view says so instead of the rail, which can be missing or too narrow for words. */
export const OfflineBar = () =>
  isOnline() ? null : (
    <p class="line offline-bar" role="status">
      <span class="dot off" />
      <span>
        <OfflineText /> {isStopped() || 'This page shows what was known then.'}
      </span>
    </p>
  )

const liveText = (): string => (hasPhone.value ? 'Live, simulator' : 'Live')

/** The countdown changes every second. Screen readers must not announce it. */
const OfflineText = () => (
  <>
    {sinceText()}
    {isStopped() || <span aria-hidden="true"> {retryText()}</span>}
  </>
)

/** The gateway answers, but has no events for a tenant that the operator has suspended. */
const isStopped = (): boolean => connection.value.isRefused && me.value?.tenantStatus !== 'active'

function sinceText(): string {
  const { since } = connection.value
  const { tenantStatus, tenantStatusSince } = me.value ?? {}
  if (isStopped() && tenantStatus && tenantStatusSince)
    return `${capital(tenantStatus)} since ${rowTime(tenantStatusSince, now.value)} by the operator: nothing is sent.`
  return since === null ? 'Offline.' : `Offline since ${clockTime(since)}.`
}

function retryText(): string {
  const { retryAt } = connection.value
  if (retryAt === null) return 'Trying again.'
  const seconds = Math.max(1, Math.ceil((retryAt - now.value) / 1000))
  return `Trying again in ${duration(seconds * 1000).replace('.0', '')}.`
}
