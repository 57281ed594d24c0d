import type { Overview, OverviewDestination } from '../../../client/client.ts'
import { explained, isCancelled } from '../messages/words.ts'
import { Icon } from '../parts/icon.tsx'
import { withNumbers } from '../parts/with-numbers.tsx'
import { addressOf } from '../state/address.ts'
import { count, now, rowTime, utcTime } from '../state/clock.ts'
import type { Range } from './ranges.ts'
import { Table } from './table.tsx'
import { latency } from './wire.ts'

/** Why messages failed, the most frequent first. */
export function Reasons({ overview, range }: { overview: Overview; range: Range }) {
  const errors = overview.errors.filter(({ error }) => !isCancelled(error))
  return (
    <section aria-labelledby="reasons">
      <h2 id="reasons">Why messages failed</h2>
      {errors.length === 0 ? (
        <p class="dim">No message failed in {range.inWords}.</p>
      ) : (
        <Table columns={['Reason', 'Last', 'Messages']}>
          {errors.map(({ error, failure, count: times, lastAt }) => (
            <tr key={error}>
              <td>
                <a class="link" href={addressOf('messages', { state: 'failed', failure, after: range.name })}>
                  {withNumbers(reasonText(error))}
                </a>
              </td>
              <td class="dim" title={utcTime(lastAt)}>
                {rowTime(lastAt, now.peek())}
              </td>
              <td>{count(times)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

function reasonText(error: string): string {
  const { what, quote, code } = explained(error)
  return [what, quote === undefined ? '' : `“${quote}”`, code === undefined ? '' : `(${code})`]
    .filter(Boolean)
    .join(' ')
}

/** The results of the webhooks, those that fail now first. */
export function Destinations({ overview }: { overview: Overview }) {
  const destinations = overview.destinations.toSorted(
    (a, b) => Number(a.failingSince === null) - Number(b.failingSince === null),
  )
  return (
    <section aria-labelledby="destinations">
      <h2 id="destinations">Webhooks</h2>
      {destinations.length === 0 ? (
        <p class="dim">Nothing was posted. An app with a webhook address gets each text that arrives.</p>
      ) : (
        <Table columns={['Destination', 'p95', 'Delivered']}>
          {destinations.map((each) => (
            <Destination key={`${each.kind} ${each.appId ?? each.triggerId ?? each.url}`} {...each} />
          ))}
        </Table>
      )}
    </section>
  )
}

const Destination = ({ url, success, failed, p95Ms, failingSince, neverArrived }: OverviewDestination) => (
  <tr>
    <td title={url}>
      {url.split('/')[2]}
      <wbr />
      {url.replace(/^\w+:\/\/[^/]*/, '')}
    </td>
    <td class="dim">{latency(p95Ms)}</td>
    <td class={failingSince === null && neverArrived === 0 ? '' : 'bad'}>
      {(failingSince !== null || neverArrived > 0) && <Icon name="failed" />}
      {count(success)} of {count(success + failed)}
      {neverArrived > 0 && (
        <>
          ,<br />
          {count(neverArrived)} never arrived
        </>
      )}
    </td>
  </tr>
)
