import type { Overview } from '../../../client/client.ts'
import { countOf, waitsOf } from '../facts/facts-of.ts'
import { count, dayHeader, dayOf, rowTime, shortTime } from '../state/clock.ts'

/** The parts of a bar from its foot, in percent of the highest bar. */
export interface Bar {
  title: string
  sent: number
  received: number
  failed: number
  waiting: number
}

/** Less would be invisible. */
const MIN_PERCENT = 1.5

/** Sent, received and failed messages in equal periods; waiting ones are on the last one. */
export function barsOf(overview: Overview, now: number): Bar[] {
  const { buckets } = overview
  const last = buckets.length - 1
  const waitingNow = countOf(waitsOf(overview))
  const parts = buckets.map((bucket, index) => ({ ...bucket, waiting: index === last ? waitingNow : 0 }))
  const highest = Math.max(1, ...parts.map(({ sent, received, failed, waiting }) => sent + received + failed + waiting))
  const percent = (value: number): number => (value === 0 ? 0 : Math.max(MIN_PERCENT, (100 * value) / highest))
  return parts.map(({ at, sent, received, failed, waiting }) => ({
    title: `${rowTime(at, now)}: ${count(sent)} sent, ${count(received)} received, ${count(failed)} failed${waiting > 0 ? `, ${count(waiting)} wait now` : ''}`,
    sent: percent(sent),
    received: percent(received),
    failed: percent(failed),
    waiting: percent(waiting),
  }))
}

/** The times under the chart: its start, its quarters, and now. */
export function axisOf({ buckets }: Pick<Overview, 'buckets'>, now: number): string[] {
  const quarter = buckets.length / 4
  const starts = [0, 1, 2, 3].map((index) => buckets[Math.floor(index * quarter)]?.at ?? '')
  const isLong = bucketMs({ buckets }) > 3_600_000
  const labels = starts.map((at, index) => {
    if (isLong) return dayHeader(at, now).replace(/^.*, /, '')
    const isKnownDay = [now, starts[index - 1] ?? 0].some((other) => dayOf(other) === dayOf(at))
    return isKnownDay ? shortTime(at) : rowTime(at, now)
  })
  return [...labels, 'now']
}

export const bucketMs = ({ buckets: [first, second] }: Pick<Overview, 'buckets'>): number =>
  Date.parse(second?.at ?? '') - Date.parse(first?.at ?? '')
