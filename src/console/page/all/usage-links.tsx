import { save } from '../parts/save.ts'
import { useAct } from '../parts/act.ts'
import { asOperator } from '../state/caller.ts'
import { now } from '../state/clock.ts'

/** The usage of all tenants this month and last month, because last month is billed at the beginning of this one. */
export function UsageLinks() {
  const { act, error } = useAct()
  return (
    <p class="line tenants-usage">
      {error.value !== '' && (
        <span class="bad" role="alert">
          {error.value}{' '}
        </span>
      )}
      {[0, 1].map((ago) => {
        const { month, name } = monthOf(now.peek(), ago)
        const text = `${ago === 0 ? 'Usage of ' : ''}${name} as CSV`
        return (
          <button
            key={month}
            type="button"
            class="link"
            aria-label={`Usage of ${name} as CSV`}
            onClick={() => void act(async () => save(await readUsage(month), `usage-${month}.csv`))}
          >
            {text}
          </button>
        )
      })}
    </p>
  )
}

/** The usage of all tenants in a calendar month, as a file for a spreadsheet. */
const readUsage = (month: string): Promise<Blob> =>
  asOperator().request('GET', '/v1/operator/usage', { query: { month }, headers: { accept: 'text/csv' }, blob: true })

/** Usage is counted by UTC days. */
function monthOf(at: number, ago: number): { month: string; name: string } {
  const date = new Date(at)
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago, 1))
  return {
    month: first.toISOString().slice(0, 7),
    name: new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' }).format(first),
  }
}
