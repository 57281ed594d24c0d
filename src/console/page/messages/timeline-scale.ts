import { duration } from '../state/clock.ts'
import type { Line } from './timeline-lines.ts'

/** A line with its place in percent of the width. `isCut`: the wait was longer than shown. */
export interface PlacedLine extends Line {
  left: number
  width: number
  isCut: boolean
}

export interface Tick {
  left: number
  text: string
}

/** A wait longer than this many times everything else is cut. */
const CUT_ABOVE = 5

/** Places lines to scale. A long wait is cut to as much as everything else, so that the rest can be seen. */
export function placed(lines: readonly Line[]): { lines: PlacedLine[]; ticks: Tick[]; totalMs: number } {
  const start = Math.min(...lines.map((line) => line.start))
  const end = Math.max(...lines.map((line) => line.end))
  const totalMs = end - start
  const cuts = cutsOf(lines, totalMs)
  const drawn = totalMs - cuts.reduce((sum, cut) => sum + cut.removed, 0)
  const place = (at: number): number => {
    const removed = cuts.reduce((sum, cut) => sum + cut.removed * clamp((at - cut.start) / (cut.end - cut.start)), 0)
    return drawn <= 0 ? 0 : ((at - start - removed) / drawn) * 100
  }
  const placedLines = lines.map((line) => ({
    ...line,
    left: place(line.start),
    width: place(line.end) - place(line.start),
    isCut: cuts.some((cut) => cut.start === line.start && cut.end === line.end),
  }))
  return { lines: placedLines, ticks: ticksOf(placedLines, start, totalMs), totalMs }
}

const clamp = (share: number): number => Math.min(1, Math.max(0, share))

interface Cut {
  start: number
  end: number
  /** Milliseconds that are not drawn. */
  removed: number
}

function cutsOf(lines: readonly Line[], totalMs: number): Cut[] {
  const waits = lines.filter(({ kind }) => kind === 'wait' || kind === 'queue')
  const long = waits.filter(({ start, end }) => {
    const rest = totalMs - (end - start)
    return rest > 0 && end - start > rest * CUT_ABOVE
  })
  return long.map(({ start, end }) => ({ start, end, removed: end - start - Math.max(totalMs - (end - start), 1) }))
}

const TICK_GAP_PERCENT = 18
/** Round lengths between two ticks: 1, 2 and 5 times a power of ten below a minute, then minutes, hours and days. */
const ROUND_MS = [
  ...[1, 10, 100, 1000].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000, 86_400].map((seconds) => seconds * 1000),
]

/** Ticks in round numbers; where a wait is cut, at the starts of lines, as far apart as their texts need. */
function ticksOf(lines: readonly PlacedLine[], start: number, totalMs: number): Tick[] {
  const ticks: Tick[] = [{ left: 0, text: '0' }]
  const step = ROUND_MS.find((ms) => (ms / totalMs) * 100 >= TICK_GAP_PERCENT) ?? totalMs
  const ends = lines.some(({ isCut }) => isCut)
    ? lines.map((line) => ({ left: line.left, ms: line.start - start }))
    : Array.from({ length: Math.floor(totalMs / step) }, (_, index) => (index + 1) * step).map((ms) => ({
        ms,
        left: (ms / totalMs) * 100,
      }))
  for (const { left, ms } of ends) {
    const before = ticks.at(-1)?.left ?? 0
    if (left - before >= TICK_GAP_PERCENT && left <= 100 - TICK_GAP_PERCENT / 2)
      ticks.push({ left, text: duration(ms).replace('.0 s', ' s') })
  }
  return ticks
}
