import { clockTime, duration, now } from '../state/clock.ts'
import { connection } from '../state/live.ts'
import { hasPhone, isAll } from './views.ts'

/** The page of all tenants needs no events, which a suspended tenant refuses. It says by itself what could not be read. */
const isOnline = (): boolean => connection.value.online || isAll.value

/** Whether events arrive: `Live`, or since when not, and when it is tried again. */
export function ConnectionState() {
  const online = isOnline()
  return (
    <div class="line small dim connection" role="status" title={online ? liveText() : sinceText()}>
      <span class={online ? 'dot' : 'dot off'} />
      <span class="label">{online ? liveText() : <OfflineText />}</span>
    </div>
  )
}

/** Without events the bar under each view says so, in place of the rail, which can be too narrow for words or not there. */
export const OfflineBar = () =>
  isOnline() ? null : (
    <p class="line offline-bar" role="status">
      <span class="dot off" />
      <span>
        <OfflineText /> This page shows what was known then.
      </span>
    </p>
  )

const liveText = (): string => (hasPhone.value ? 'Live, simulator' : 'Live')

/** The countdown changes each second, which nobody wants read out. */
const OfflineText = () => (
  <>
    {sinceText()}
    <span aria-hidden="true"> {retryText()}</span>
  </>
)

function sinceText(): string {
  const { since } = connection.value
  return since === null ? 'Offline.' : `Offline since ${clockTime(since)}.`
}

function retryText(): string {
  const { retryAt } = connection.value
  if (retryAt === null) return 'Trying again.'
  const seconds = Math.max(1, Math.ceil((retryAt - now.value) / 1000))
  return `Trying again in ${duration(seconds * 1000).replace('.0', '')}.`
}
