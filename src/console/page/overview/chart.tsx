import type { Overview } from '../../../client/client.ts'
import { addressOf } from '../state/address.ts'
import { count, duration, now, rowTime } from '../state/clock.ts'
import { axisOf, barsOf, bucketMs } from './bars.ts'

const PARTS = ['waiting', 'failed', 'received', 'sent'] as const

export function Chart({ overview }: { overview: Overview }) {
  const at = now.peek()
  return (
    <figure class="traffic">
      <div
        class="bars"
        role="group"
        aria-label={summaryOf(overview, at)}
        onKeyDown={({ key, currentTarget }) => moveAlong(key, currentTarget)}
      >
        {barsOf(overview, at).map((bar, index, { length }) => (
          <a
            class="stack bar"
            title={bar.title}
            aria-label={bar.title}
            href={addressOf('messages', timesOf(overview, index))}
            // One Tab stop; the arrow keys move to the others.
            tabIndex={index === length - 1 ? 0 : -1}
          >
            {PARTS.map((part) => bar[part] > 0 && <i class={`bar-mark ${part}`} style={{ height: `${bar[part]}%` }} />)}
          </a>
        ))}
      </div>
      <div class="line small dim traffic-axis" aria-hidden="true">
        {axisOf(overview, at).map((label) => (
          <span>{label}</span>
        ))}
      </div>
    </figure>
  )
}

/** The messages of a bar's period. The last one is open-ended. */
function timesOf({ buckets }: Overview, index: number): Record<string, string> {
  const next = buckets[index + 1]
  return {
    after: buckets[index]?.at ?? '',
    before: next === undefined ? '' : new Date(Date.parse(next.at) - 1).toISOString(),
  }
}

function moveAlong(key: string, box: HTMLElement): void {
  const step = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : 0
  const bars = [...box.querySelectorAll('a')]
  if (step !== 0) bars[bars.findIndex((bar) => bar === document.activeElement) + step]?.focus()
}

function summaryOf(overview: Overview, at: number): string {
  const { buckets } = overview
  const sums = buckets.map(({ sent, received, failed }) => sent + received + failed)
  const most = Math.max(...sums)
  const when = buckets[sums.indexOf(most)]?.at ?? ''
  const each = `${buckets.length} bars of ${duration(bucketMs(overview))}`
  return most === 0 ? `${each}, all empty` : `${each}. The most, ${count(most)} messages, from ${rowTime(when, at)}`
}
