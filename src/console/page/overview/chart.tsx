import type { Overview } from '../../../client/client.ts'
import { count, duration, now, rowTime } from '../state/clock.ts'
import { axisOf, barsOf, bucketMs } from './bars.ts'

const PARTS = ['waiting', 'failed', 'received', 'sent'] as const

/** Stacked bars of equal stretches of time. */
export function Chart({ overview }: { overview: Overview }) {
  const at = now.peek()
  return (
    <figure class="traffic">
      <div class="bars" role="img" aria-label={summaryOf(overview, at)}>
        {barsOf(overview, at).map((bar) => (
          <div class="stack bar" title={bar.title}>
            {PARTS.map((part) => bar[part] > 0 && <i class={`bar-mark ${part}`} style={{ height: `${bar[part]}%` }} />)}
          </div>
        ))}
      </div>
      <div class="small dim traffic-axis" aria-hidden="true">
        {axisOf(overview, at).map((label) => (
          <span>{label}</span>
        ))}
      </div>
    </figure>
  )
}

function summaryOf(overview: Overview, at: number): string {
  const { buckets } = overview
  const sums = buckets.map(({ sent, received, failed }) => sent + received + failed)
  const most = Math.max(...sums)
  const when = buckets[sums.indexOf(most)]?.at ?? ''
  const each = `${buckets.length} bars of ${duration(bucketMs(overview))}`
  return most === 0 ? `${each}, all empty` : `${each}. The most, ${count(most)} messages, from ${rowTime(when, at)}`
}
