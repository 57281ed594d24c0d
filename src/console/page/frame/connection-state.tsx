import { clockTime, duration, now } from '../state/clock.ts'
import { connection, eventsPerMinute } from '../state/live.ts'
import { hasPhone } from './views.ts'

/** Whether events arrive: `Live, 38 a minute`, or since when not, and when it is tried again. */
export function ConnectionState() {
  const { online } = connection.value
  return (
    <div class="connection" role="status" title={online ? liveText() : offlineText()}>
      <span class={online ? 'dot' : 'dot off'} />
      <span class="label">{online ? liveText() : offlineText()}</span>
    </div>
  )
}

function liveText(): string {
  const rate = eventsPerMinute.value
  if (rate > 0) return `Live, ${rate >= 1000 ? '1,000+' : rate} a minute`
  return hasPhone.value ? 'Live, simulator' : 'Live'
}

function offlineText(): string {
  const { since, retryAt } = connection.value
  const seconds = Math.max(1, Math.ceil(((retryAt ?? now.value) - now.value) / 1000))
  const from = since === null ? 'Offline.' : `Offline since ${clockTime(since)}.`
  return retryAt === null
    ? `${from} Trying again.`
    : `${from} Trying again in ${duration(seconds * 1000).replace('.0', '')}.`
}
