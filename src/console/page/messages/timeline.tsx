import type { DeliveryAttempt, Timeline } from '../../../client/client.ts'
import { isOnePane } from '../parts/media.ts'
import { duration, now } from '../state/clock.ts'
import { linesOf } from './timeline-lines.ts'
import { type PlacedLine, placed } from './timeline-scale.ts'
import './timeline.css'

/** What happened to a message, line by line and true to scale. */
export function TimelineChart({ timeline, webhooks }: { timeline: Timeline; webhooks: readonly DeliveryAttempt[] }) {
  const isOpen = timeline.status === 'queued' || timeline.status === 'sending'
  const all = linesOf(timeline, webhooks, isOpen ? now.value : now.peek())
  if (all.length === 0) return null
  const { lines, ticks, totalMs } = placed(all)
  return (
    <section aria-label="What happened">
      <h3 aria-level={isOnePane.value ? 2 : 3}>
        What happened <span>{totalMs > 0 ? `${duration(totalMs)} ${isOpen ? 'so far' : 'in all'}` : ''}</span>
      </h3>
      <div class="chart">
        {lines.map((line, index) => (
          <div class="columns chart-line" key={`${line.name} ${index}`}>
            <span>{line.name}</span>
            <span class="chart-track">
              <i
                class={line.kind}
                style={{ left: leftOf(line, lines.slice(0, index)), width: isPoint(line) ? '' : `${line.width}%` }}
              />
              {line.isCut && <b class="cut" style={{ left: `${line.left + line.width / 2}%` }} />}
            </span>
            <span class="measure">{line.measure}</span>
            {line.note !== undefined && <span class="note">{line.note}</span>}
          </div>
        ))}
        {totalMs > 0 && (
          <div class="columns chart-line" aria-hidden="true">
            <span class="axis">
              {ticks.map(({ left, text }) => (
                <b key={text} style={{ left: `${left}%` }}>
                  {text}
                </b>
              ))}
            </span>
          </div>
        )}
      </div>
    </section>
  )
}

const isPoint = ({ kind }: PlacedLine): boolean => kind.endsWith('point')

/** The least width of a bar. */
const LEAST_PX = 4

/** A bar can be drawn longer than it is; a moment after it does not stand before its end. */
function leftOf(line: PlacedLine, before: readonly PlacedLine[]): string {
  const bar = before.findLast((each) => !isPoint(each) && each.end <= line.start)
  if (bar === undefined || !isPoint(line)) return `${line.left}%`
  return `max(${line.left}%, calc(${bar.left}% + ${LEAST_PX}px))`
}
