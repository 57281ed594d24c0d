import type { Timeline } from '../../../client/client.ts'
import { clockTime, duration } from '../state/clock.ts'

type Entry = Timeline['entries'][number]
type Attempt = Extract<Entry, { type: 'attempt' }>

/** One line of the timeline: a moment, or a time that something took. */
export interface Line {
  name: string
  kind: 'point' | 'work' | 'wait' | 'bad-work' | 'bad-point'
  /** In milliseconds. A point ends where it starts; an open end is now. */
  start: number
  end: number
  /** What stands at the right: a time or a length. */
  measure: string
  /** What RingCentral said, and whether repeating is safe. */
  note?: string
}

/** The lines of a message's life, in order. Between two attempts, and before the first, it waits. */
export function linesOf({ entries, status }: Timeline, now: number): Line[] {
  const lines: Line[] = []
  let attempts = 0
  let freeSince: number | null = null
  for (const entry of entries) {
    const at = Date.parse(entry.at)
    const isAttempt = entry.type === 'attempt'
    if (freeSince !== null && (isAttempt || entry.type === 'failed') && at > freeSince)
      lines.push(waitLine(attempts === 0 ? 'Queued' : 'Waits', freeSince, at))
    lines.push(lineOf(entry, at, now))
    if (isAttempt) attempts++
    freeSince = isAttempt
      ? at + (entry.durationMs ?? 0)
      : entry.type === 'queued' || entry.type === 'scheduled'
        ? (freeSince ?? at)
        : freeSince
    if (entry.type === 'sent') freeSince = null
  }
  const isOpen = status === 'queued' || status === 'sending'
  const isCalling = entries.at(-1)?.type === 'attempt' && (entries.at(-1) as Attempt).durationMs === null
  if (isOpen && freeSince !== null && !isCalling)
    lines.push(waitLine(attempts === 0 ? 'Queued' : 'Waits', freeSince, now))
  return lines
}

const waitLine = (name: string, start: number, end: number): Line => ({
  name,
  kind: 'wait',
  start,
  end,
  measure: duration(end - start),
})

function lineOf(entry: Entry, at: number, now: number): Line {
  const point = (name: string, kind: Line['kind'] = 'point'): Line => ({
    name,
    kind,
    start: at,
    end: at,
    measure: clockTime(at),
  })
  switch (entry.type) {
    case 'attempt':
      return attemptLine(entry, at, now)
    case 'queued':
      return point('Accepted')
    case 'scheduled':
      return { ...point('Scheduled'), note: `To go out ${clockTime(entry.sendAt)}.` }
    case 'failed':
      return point('Failed', 'bad-point')
    case 'undelivered':
      return { ...point('Not delivered', 'bad-point'), note: `${entry.reason}.` }
    case 'webhook':
      return webhookLine(entry, at)
    case 'sent':
      return point('Sent')
    case 'delivered':
      return point('Delivered')
    case 'received':
      return point('Received')
  }
}

function attemptLine(entry: Attempt, at: number, now: number): Line {
  const end = at + (entry.durationMs ?? now - at)
  return {
    name: `Attempt ${entry.number}`,
    kind: entry.outcome === 'accepted' ? 'work' : 'bad-work',
    start: at,
    end,
    measure: entry.durationMs === null ? 'runs' : duration(entry.durationMs),
    ...(attemptNote(entry) === '' ? {} : { note: attemptNote(entry) }),
  }
}

/** What the outcome of an attempt means: whether sending again is safe. */
const MEANINGS: Readonly<Record<Attempt['outcome'], string>> = {
  accepted: 'Accepted.',
  rejected: 'Refused, final.',
  not_accepted: 'Not accepted, safe to repeat.',
  unknown: 'Unknown outcome: repeated only if the message store does not have it.',
}

function attemptNote({ outcome, httpStatus, errorCode, message, durationMs }: Attempt): string {
  if (durationMs === null) return 'RingCentral has not answered yet.'
  if (outcome === 'accepted') return ''
  const said = [
    httpStatus === undefined ? 'No answer' : `HTTP ${httpStatus}`,
    ...(errorCode === undefined ? [] : [errorCode]),
    ...(message === undefined ? [] : [`“${message}”`]),
  ].join(', ')
  return `${said}. ${MEANINGS[outcome]}`
}

function webhookLine({ outcome, attemptNumber, deliveryId }: Extract<Entry, { type: 'webhook' }>, at: number): Line {
  const isGood = outcome === 'success'
  return {
    name: `Webhook${attemptNumber === 1 ? '' : ` ${attemptNumber}`}`,
    kind: isGood ? 'point' : 'bad-point',
    start: at,
    end: at,
    measure: clockTime(at),
    note: `${deliveryId.split(':')[1] ?? deliveryId}: ${isGood ? 'answered 2xx' : outcome.replace('_', ' ')}.`,
  }
}

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
  return { lines: placedLines, ticks: ticksOf(placedLines, start), totalMs }
}

const clamp = (share: number): number => Math.min(1, Math.max(0, share))

interface Cut {
  start: number
  end: number
  /** Milliseconds that are not drawn. */
  removed: number
}

function cutsOf(lines: readonly Line[], totalMs: number): Cut[] {
  const waits = lines.filter(({ kind }) => kind === 'wait')
  const long = waits.filter(({ start, end }) => {
    const rest = totalMs - (end - start)
    return rest > 0 && end - start > rest * CUT_ABOVE
  })
  return long.map(({ start, end }) => ({ start, end, removed: end - start - Math.max(totalMs - (end - start), 1) }))
}

const TICK_GAP_PERCENT = 18

/** Ticks at the starts of lines, as far apart as their texts need. */
function ticksOf(lines: readonly PlacedLine[], start: number): Tick[] {
  const ticks: Tick[] = [{ left: 0, text: '0' }]
  for (const line of lines) {
    const last = ticks.at(-1)
    const text = duration(line.start - start)
    const hasRoom = last !== undefined && line.left - last.left >= TICK_GAP_PERCENT
    if (hasRoom && last.text !== text && line.left < 100 - TICK_GAP_PERCENT / 2) ticks.push({ left: line.left, text })
  }
  return ticks
}
