import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { type Muting, closePanel } from '../frame/panel.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Alert } from '../state/alert.ts'
import { operator } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'

const HOUR_MS = 3_600_000
const TIMES: readonly [label: string, ms: number | null][] = [
  ['For 1 hour', HOUR_MS],
  ['For 8 hours', 8 * HOUR_MS],
  ['Until it ends', null],
]

/** Silences alerts for a time, here and at `ALERT_URL`. */
export function MuteAlerts({ what, alerts, changed }: Muting) {
  const error = useSignal('')
  const mute = async (until: string): Promise<void> => {
    try {
      const sgw = operator.value
      if (sgw !== null) await Promise.all(alerts.map((alert) => muteAlert(sgw, alert, until)))
      closePanel()
    } catch (reason) {
      error.value = failureText(reason)
    }
    changed()
  }
  return (
    <Dialog title="Mute" close={closePanel}>
      <p>
        <b>{what}.</b>
      </p>
      <p>
        Until then, nothing about it is posted to ALERT_URL, and no headline or count mentions it. It stays on this
        page, in gray.
      </p>
      {error.value !== '' && (
        <p class="bad" role="alert">
          {error.value}
        </p>
      )}
      <div class="actions">
        <button type="button" class="button quiet" onClick={closePanel}>
          Back
        </button>
        {TIMES.map(([label, ms]) => (
          <button key={label} type="button" class="button" onClick={() => void mute(untilOf(ms))}>
            {label}
          </button>
        ))}
      </div>
    </Dialog>
  )
}

const untilOf = (ms: number | null): string => (ms === null ? 'over' : new Date(Date.now() + ms).toISOString())

const muteAlert = (sgw: Sgw, { alert, subject }: Alert, until: string): Promise<unknown> =>
  sgw.request('PUT', `/v1/operator/alerts/${alert}/mute`, { body: { subject, until } })
