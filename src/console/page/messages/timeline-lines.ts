import type { DeliveryAttempt, Timeline } from '../../../client/client.ts'
import { capital, clockTime, duration, rowTime } from '../state/clock.ts'
import { type Attempt, isRunning } from '../parts/running.ts'
import { attachmentsText } from './row.ts'
import { waitingText } from './wait-words.ts'
import { isCancelled, isLasting } from './words.ts'

type TimelineEntry = Timeline['entries'][number]

/** One line of the timeline: a moment, or a period. */
export interface Line {
  name: string
  kind: 'point' | 'work' | 'queue' | 'wait' | 'bad-work' | 'bad-point'
  /** In milliseconds. A point ends where it starts; an open end is now. */
  start: number
  end: number
  /** The text at the right: a time or a duration. */
  measure: string
  /** What RingCentral said, and whether repeating is safe. */
  note?: string
}

const COMMIT_MS = 1000

/** The lines of a message's life, in order. It waits before the first attempt and between two attempts. */
export function linesOf(timeline: Timeline, webhooks: readonly DeliveryAttempt[], now: number): Line[] {
  const { entries, status } = timeline
  const failed = entries.find((entry) => entry.type === 'failed')
  const lines: Line[] = []
  const isOpen = status === 'queued' || status === 'sending'
  let last: Attempt | null = null
  let freeSince: number | null = null
  let sentAt = NaN
  entries.forEach((entry, index) => {
    const at = Date.parse(entry.at)
    // A permanent refusal fails immediately: the commit is not a wait.
    const isWaited = entry.type === 'attempt' || (entry.type === 'failed' && at - (freeSince ?? at) > COMMIT_MS)
    if (freeSince !== null && isWaited && at > freeSince)
      lines.push({ ...waitLine(last, freeSince, at), ...('heldBy' in entry && { note: HELD }) })
    if (entry.type === 'scheduled') {
      const end = Math.min(Date.parse(entry.sendAt), Date.parse(entries[index + 1]?.at ?? '') || now)
      lines.push(heldLine(entry.sendAt, at, end))
      freeSince = end < now ? end : null
      return
    }
    if (entry.type === 'attempt') {
      const runs = isRunning(timeline, entry)
      lines.push(runs ? runningLine(entry, at, now) : attemptLine(entry, at, isLasting(failed?.error)))
      last = entry
      freeSince = runs ? null : at + (entry.durationMs ?? 0)
      return
    }
    lines.push(lineOf(entry, at, webhooks, sentAt))
    if (entry.type === 'queued') freeSince = at
    if (entry.type === 'sent') [freeSince, sentAt] = [null, at]
  })
  if (isOpen && freeSince !== null && now > freeSince)
    lines.push({ ...waitLine(last, freeSince, now), kind: 'wait', ...heldNote(timeline, now) })
  return lines
}

/** Why it still waits: another message's answer, which its own attempts do not show, may hold it. */
const heldNote = ({ waiting }: Timeline, now: number): Pick<Line, 'note'> =>
  waiting === null || waiting.reason === 'scheduled' ? {} : { note: `${capital(waitingText(waiting, now))}.` }

const HELD = 'RingCentral had paused the extension, after a 429 for another message.'

function waitLine(before: Attempt | null, start: number, end: number): Line {
  const name =
    before === null
      ? 'Queued'
      : before.httpStatus === 429
        ? 'Paused'
        : before.outcome === 'unknown'
          ? 'Checked'
          : 'Waited'
  return { name, kind: before === null ? 'queue' : 'wait', start, end, measure: duration(end - start) }
}

/** A scheduled message is held until its time, which is not trouble. */
const heldLine = (sendAt: string, start: number, end: number): Line => ({
  name: 'Scheduled',
  kind: 'queue',
  start,
  end: Math.max(start, end),
  measure: duration(end - start),
  note: `For ${rowTime(sendAt, end)}.`,
})

function lineOf(
  entry: Exclude<TimelineEntry, { type: 'scheduled' | 'attempt' }>,
  at: number,
  webhooks: readonly DeliveryAttempt[],
  sentAt: number,
): Line {
  const point = (name: string, kind: Line['kind'] = 'point'): Line => ({
    name,
    kind,
    start: at,
    end: at,
    measure: clockTime(at),
  })
  switch (entry.type) {
    case 'queued':
      return withAttachments(point('Accepted'), entry.attachments)
    case 'failed':
      return isCancelled(entry.error) ? point('Cancelled') : point('Failed', 'bad-point')
    case 'undelivered':
      return { ...point('Not delivered', 'bad-point'), note: `${entry.reason}.` }
    case 'webhook':
      return webhookLine(entry, point, webhooks)
    case 'sent':
      return point('Sent')
    case 'delivered':
      return sentAt < at
        ? { ...point('Delivered'), note: `Known ${duration(at - sentAt)} after it was sent.` }
        : point('Delivered')
    case 'received':
      return withAttachments(point('Received'), entry.attachments)
  }
}

const withAttachments = (line: Line, count = 0): Line =>
  count === 0 ? line : { ...line, note: `With ${attachmentsText(count)}.` }

const runningLine = ({ number }: Attempt, at: number, now: number): Line => ({
  name: `Attempt ${number}`,
  kind: 'work',
  start: at,
  end: Math.max(at, now),
  measure: 'runs',
  note: 'RingCentral has not answered yet.',
})

function attemptLine(entry: Attempt, at: number, isUseless: boolean): Line {
  const note = attemptNote(entry, isUseless)
  return {
    name: `Attempt ${entry.number}`,
    kind: entry.outcome === 'accepted' ? 'work' : 'bad-work',
    start: at,
    end: at + (entry.durationMs ?? 0),
    measure: entry.durationMs === null ? '–' : duration(entry.durationMs),
    ...(note === '' ? {} : { note }),
  }
}

/** What the outcome of an attempt means: whether sending again is safe. */
const MEANINGS: Readonly<Record<Attempt['outcome'], string>> = {
  accepted: 'Accepted.',
  rejected: 'Refused, final.',
  not_accepted: 'Not accepted, safe to repeat.',
  unknown: 'Unknown outcome: repeated only if the message store does not have it.',
}

/** `isUseless`: the message failed for a lasting reason. Then repeating is safe, but would fail, too. */
function attemptNote({ outcome, httpStatus, errorCode, message }: Attempt, isUseless: boolean): string {
  if (outcome === 'accepted') return ''
  const said = [
    httpStatus !== undefined
      ? `HTTP ${httpStatus}`
      : outcome === 'not_accepted'
        ? 'The call did not get through'
        : 'No answer',
    ...(errorCode === undefined ? [] : [errorCode]),
    ...(message === undefined ? [] : [`“${message}”`]),
  ].join(', ')
  // A 429 says nothing about the message: it failed for a later reason.
  const isFinal = isUseless && outcome === 'not_accepted' && httpStatus !== 429
  const meaning = isFinal ? 'Not accepted. Repeating would fail, too.' : MEANINGS[outcome]
  return `${said}. ${meaning}`
}

/** Where it went. The webhooks below show the answers. */
function webhookLine(
  { outcome, attemptNumber, deliveryId }: Extract<TimelineEntry, { type: 'webhook' }>,
  point: (name: string, kind?: Line['kind']) => Line,
  webhooks: readonly DeliveryAttempt[],
): Line {
  const url = webhooks.find((attempt) => attempt.deliveryId === deliveryId)?.url
  const name = attemptNumber === 1 ? 'Webhook' : `Webhook ${attemptNumber}`
  const line = point(name, outcome === 'success' ? 'point' : 'bad-point')
  return url === undefined ? line : { ...line, note: `To ${new URL(url).host}.` }
}
