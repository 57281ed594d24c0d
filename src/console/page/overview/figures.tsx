import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../client/client.ts'
import { accountedIn, countOf, failedIn, waitsOf } from '../facts/facts-of.ts'
import { addressOf } from '../state/address.ts'
import { earliest } from '../parts/ends.ts'
import { count, now, rowTime } from '../state/clock.ts'
import type { Range } from './ranges.ts'
import { latency } from './wire.ts'
import './figures.css'

/**
 * The figures are the chart's legend. They count by the time of the event, by which the list cannot filter, so the words are links to the
 * messages but the numbers are not. Waiting messages are counted as in the list.
 */
export function Figures({ overview, range }: { overview: Overview; range: Range }) {
  const { totals, p50Ms, p95Ms } = overview
  const waits = waitsOf(overview)
  const waiting = countOf(waits)
  const failed = failedIn(totals)
  const before = failedIn(overview.previous)
  const after = range.name
  return (
    <section class="figures" aria-label={`The last ${range.inWords}`}>
      <Figure mark="sent" word="Sent" params={{ state: 'sent', after }} value={count(totals.sent)} />
      <Figure mark="received" word="Received" params={{ state: 'received', after }} value={count(totals.received)} />
      <Figure mark="failed" word="Failed" params={{ state: 'failed', after }} value={count(failed)}>
        {failed > 0 && <small class="bad">{shareText(failed, overview)}</small>}
        {failed + before > 0 && (
          <small>
            {range.before} {count(before)}
          </small>
        )}
      </Figure>
      {totals.undelivered > 0 && (
        <Figure word="Not delivered" params={{ state: 'undelivered', after }} value={count(totals.undelivered)}>
          <small class="bad">{shareText(totals.undelivered, overview)}</small>
        </Figure>
      )}
      {waiting > 0 && (
        <Figure mark="waiting" word="Waiting" params={{ state: 'waiting' }} value={count(waiting)}>
          <small>since {rowTime(earliest(waits.map(({ since }) => since)) ?? '', now.peek())}</small>
        </Figure>
      )}
      <Figure word="Time to send" value={latency(p50Ms)}>
        {p95Ms !== null && <small>median, p95 {latency(p95Ms)}</small>}
      </Figure>
    </section>
  )
}

/** `1.2 % of 1,204`. */
function shareText(part: number, overview: Overview): string {
  const all = accountedIn(overview)
  const percent = (100 * part) / Math.max(all, 1)
  return `${percent > 0 && percent < 0.1 ? '< 0.1' : percent.toFixed(1)} % of ${count(all)}`
}

interface FigureProps {
  /** The bars for which it is the legend. */
  mark?: string
  word: string
  params?: Readonly<Record<string, string>>
  value: string
  children?: ComponentChildren
}

const Figure = ({ mark, word, params, value, children }: FigureProps) => (
  <div class="figure">
    <div class="line figure-word">
      {mark !== undefined && <i class={`bar-mark ${mark}`} />}
      {params === undefined ? (
        word
      ) : (
        <a class="link" href={addressOf('messages', params)}>
          {word}
        </a>
      )}
    </div>
    <div class="figure-value">
      {value}
      {children}
    </div>
  </div>
)
