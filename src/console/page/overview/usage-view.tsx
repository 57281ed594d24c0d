import type { UsageDay } from '../../../client/client.ts'
import { Button } from '../parts/button.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { appName, asApp, client } from '../state/caller.ts'
import { count } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'
import { csvOf } from './csv.ts'
import { save } from '../parts/save.ts'
import { Table } from './table.tsx'

/** What each app sent and received by day, as a table and a file for a spreadsheet. */
export default function Usage() {
  const { value, error, again } = useLoading(() => asApp().usage(), [client.value])
  const days = value.value
  if (days === null) return <LoadFailed what="The usage" error={error.value} again={again} />
  return (
    <section class="usage" aria-labelledby="usage">
      <header class="line">
        <h2 id="usage">Usage by day, in UTC</h2>
        {days.length > 0 && (
          <Button
            text="Download CSV"
            run={() => save(new Blob([csvOf(days, appName)], { type: 'text/csv' }), `usage-${days[0]?.date ?? ''}.csv`)}
          />
        )}
      </header>
      {days.length === 0 ? <p class="dim">No text was sent or received in 30 days.</p> : <Days days={days} />}
    </section>
  )
}

/** `Tue 24 Nov`: a UTC day, whatever the zone in which times are shown. */
const dayText = (date: string): string =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
    .format(new Date(date))
    .replace(',', '')

const Days = ({ days }: { days: readonly UsageDay[] }) => (
  <Table columns={['Day', 'App', 'Sent', 'Failed', 'Received', 'Segments', 'Media']}>
    {days.map(({ date, appId, sent, failed, received, segments, media = 0 }) => (
      <tr key={`${date} ${appId}`}>
        <td title={date}>{dayText(date)}</td>
        <td>{appName(appId)}</td>
        {[sent, failed, received, segments, media].map((value) => (
          <td>{count(value)}</td>
        ))}
      </tr>
    ))}
  </Table>
)
