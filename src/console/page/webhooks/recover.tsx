import { Ask } from '../parts/confirm.tsx'
import type { Typed } from '../parts/field.tsx'
import { asApp } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { SOON_MS, readAll } from '../state/keep-reading.ts'
import type { Destination } from './destination.ts'

const HOUR_MS = 3_600_000
const DAYS_30 = 720

interface RecoverProps {
  destination: Destination
  /** Called with the number of deliveries that are repeated, as a sentence. */
  note: (said: string) => void
}

/** Repeats the deliveries that have failed since a time. */
export function Recover({ destination: { id, kind, name, usage }, note }: RecoverProps) {
  const { failingSince = null } = usage ?? {}
  const recover = async (typed: Typed): Promise<void> => {
    const where = kind === 'app' ? { appId: id } : { triggerId: id }
    const { scheduled } = await asApp().deliveries.recover({ since: typed('since'), ...where })
    note(scheduledText(scheduled))
    readAll(SOON_MS)
  }
  return (
    <Ask label="Recover since…" title="Recover failed deliveries" button="Recover" run={recover}>
      Each delivery to {name} whose latest attempt failed in this time is attempted again, at most the oldest 10,000.
      <label class="asked">
        Failed since
        <select class="field" name="since">
          {failingSince !== null && (
            <option value={failingSince}>{rowTime(failingSince, now.peek())}, when it began to fail</option>
          )}
          {[1, 24, 168, DAYS_30].map((hours) => (
            <option key={hours} value={new Date(now.peek() - hours * HOUR_MS).toISOString()}>
              {hours <= 24 ? `${hours} h ago` : `${hours / 24} days ago`}
            </option>
          ))}
        </select>
      </label>
    </Ask>
  )
}

const scheduledText = (scheduled: number): string =>
  scheduled === 0
    ? 'No delivery failed in that time.'
    : `${count(scheduled)} ${scheduled === 1 ? 'delivery is' : 'deliveries are'} attempted again now.`
