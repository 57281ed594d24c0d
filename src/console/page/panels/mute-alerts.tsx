import { type Muting, closePanel } from '../frame/panel.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Refused } from '../parts/refused.tsx'
import { useAct } from '../parts/act.ts'
import type { Alert } from '../state/alert.ts'
import { asOperator } from '../state/caller.ts'
import { readAll } from '../state/keep-reading.ts'

const HOUR_MS = 3_600_000
const TIMES: readonly [label: string, ms: number | null][] = [
  ['For 1 hour', HOUR_MS],
  ['For 8 hours', 8 * HOUR_MS],
  ['Until it ends', null],
]

/** Silences alerts for a time, here and at `ALERT_URL`. */
export function MuteAlerts({ what, alerts }: Muting) {
  const { act, error } = useAct()
  const mute = async (until: string): Promise<void> => {
    if (await act(() => Promise.all(alerts.map((alert) => muteAlert(alert, until))))) closePanel()
    readAll()
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
      <Refused error={error.value} />
      <div class="actions">
        <Button text="Back" class="button quiet" run={closePanel} />
        {TIMES.map(([label, ms]) => (
          <Button key={label} text={label} run={() => mute(untilOf(ms))} />
        ))}
      </div>
    </Dialog>
  )
}

const untilOf = (ms: number | null): string => (ms === null ? 'over' : new Date(Date.now() + ms).toISOString())

const muteAlert = ({ alert, subject }: Alert, until: string): Promise<unknown> =>
  asOperator().request('PUT', `/v1/operator/alerts/${alert}/mute`, { body: { subject, until } })
