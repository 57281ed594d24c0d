import type { Range } from './list.ts'
import type { Segment } from './segment.ts'

/** Divides a range into the segments that overlap it and the gaps between them, newest first. */
export function rangesOf(segments: readonly Segment[], range: Range): (Segment | Range)[] {
  const ranges: (Segment | Range)[] = []
  let { until } = range
  for (const segment of segments) {
    if (segment.after >= until) continue
    if (segment.until <= range.after) break
    if (segment.until < until) ranges.push({ after: segment.until, until })
    ranges.push(segment)
    until = segment.after
  }
  if (until > range.after) ranges.push({ after: range.after, until })
  return ranges
}

export const isSegment = (range: Segment | Range): range is Segment => 'id' in range
