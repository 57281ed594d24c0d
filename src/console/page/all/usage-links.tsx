import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { save } from '../overview/save.ts'
import { whileSignedIn } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'
import { readUsage } from './all-overview.ts'

/** The usage of all tenants this month and last month, because last month is billed at the beginning of this one. */
export function UsageLinks({ sgw }: { sgw: Sgw }) {
  const error = useSignal('')
  const load = async (month: string): Promise<void> => {
    try {
      save(await whileSignedIn(readUsage(sgw, month)), `usage-${month}.csv`)
      error.value = ''
    } catch (reason) {
      error.value = failureText(reason)
    }
  }
  const [current, before] = [0, 1].map((ago) => monthOf(now.peek(), ago))
  return (
    <p class="tenants-usage">
      {error.value !== '' && (
        <span class="bad" role="alert">
          {error.value}{' '}
        </span>
      )}
      {current !== undefined && (
        <button type="button" class="link" onClick={() => void load(current.month)}>
          Usage of {current.name} as CSV
        </button>
      )}
      {before !== undefined && (
        <button
          type="button"
          class="link"
          aria-label={`Usage of ${before.name} as CSV`}
          onClick={() => void load(before.month)}
        >
          {before.name} as CSV
        </button>
      )}
    </p>
  )
}

/** Usage is counted by UTC days. */
function monthOf(at: number, ago: number): { month: string; name: string } {
  const date = new Date(at)
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago, 1))
  return {
    month: first.toISOString().slice(0, 7),
    name: new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' }).format(first),
  }
}
