import type { DeliveryAttempt, Timeline } from '../../../client/client.ts'
import { isOnePane } from '../parts/media.ts'
import { duration, now } from '../state/clock.ts'
import { type Line, linesOf } from './timeline-lines.ts'
import './timeline.css'

/** What happened to a message, line by line and to scale. */
export function TimelineChart({ timeline, webhooks }: { timeline: Timeline; webhooks: readonly DeliveryAttempt[] }) {
  const isOpen = timeline.status === 'queued' || timeline.status === 'sending'
  const lines = linesOf(timeline, webhooks, isOpen ? now.value : now.peek())
  if (lines.length === 0) return null
  const start = Math.min(...lines.map((line) => line.start))
  const totalMs = Math.max(...lines.map((line) => line.end)) - start
  const share = (ms: number): number => (totalMs === 0 ? 0 : (100 * ms) / totalMs)
  /** A bar may be drawn longer than it is; a later moment is not drawn before its end. */
  const leftOf = (line: Line, bar: Line | undefined): string =>
    isPoint(line) && bar !== undefined
      ? `max(${share(line.start - start)}%, calc(${share(bar.start - start)}% + ${LEAST_PX}px))`
      : `${share(line.start - start)}%`
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
                style={{
                  left: leftOf(
                    line,
                    lines.slice(0, index).findLast((each) => !isPoint(each)),
                  ),
                  width: isPoint(line) ? '' : `${share(line.end - line.start)}%`,
                }}
              />
            </span>
            <span class="measure">{line.measure}</span>
            {line.note !== undefined && <span class="note">{line.note}</span>}
          </div>
        ))}
      </div>
    </section>
  )
}

const isPoint = ({ kind }: Line): boolean => kind.endsWith('point')

/** The minimum width of a bar, in pixels. */
const LEAST_PX = 4
