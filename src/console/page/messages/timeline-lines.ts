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
  note?: string | undefined
}

const COMMIT_MS = 1000

const bar = (name: string, kind: Line['kind'], start: number, end: number, note?: string): Line => ({
  name,
  kind,
  start,
  end,
  measure: duration(end - start),
  note,
})

const point = (name: string, at: number, note?: string, kind: Line['kind'] = 'point'): Line => ({
  name,
  kind,
  start: at,
  end: at,
  measure: clockTime(at),
  note,
})

/** The lines of a message's life, in order. It waits before the first attempt and between two attempts. */
export function linesOf(timeline: Timeline, webhooks: readonly DeliveryAttempt[], now: number): Line[] {
  const { entries, status, waiting } = timeline
  const failed = entries.find((entry) => entry.type === 'failed')
  const lines: Line[] = []
  let last: Attempt | null = null
  let freeSince: number | null = null
  let sentAt = NaN
  entries.forEach((entry, index) => {
    const at = Date.parse(entry.at)
    // A permanent refusal fails immediately: the commit is not a wait.
    const isWaited = entry.type === 'attempt' || (entry.type === 'failed' && at - (freeSince ?? at) > COMMIT_MS)
    if (freeSince !== null && isWaited && at > freeSince)
      lines.push(waitLine(last, freeSince, at, 'heldBy' in entry ? HELD : undefined))
    if (entry.type === 'scheduled') {
      const end = Math.min(Date.parse(entry.sendAt), Date.parse(entries[index + 1]?.at ?? '') || now)
      // It is held until its time, which is not trouble.
      lines.push(bar('Scheduled', 'queue', at, Math.max(at, end), `For ${rowTime(entry.sendAt, end)}.`))
      freeSince = end < now ? end : null
    } else if (entry.type === 'attempt') {
      const runs = isRunning(timeline, entry)
      lines.push(attemptLine(entry, at, runs ? now : null, isLasting(failed?.error)))
      last = entry
      freeSince = runs ? null : at + (entry.durationMs ?? 0)
    } else {
      lines.push(lineOf(entry, at, webhooks, sentAt))
      if (entry.type === 'queued') freeSince = at
      if (entry.type === 'sent') [freeSince, sentAt] = [null, at]
    }
  })
  const isOpen = status === 'queued' || status === 'sending'
  if (isOpen && freeSince !== null && now > freeSince) {
    // What holds it can be another message's answer, which its own attempts do not show.
    const why = waiting && waiting.reason !== 'scheduled' ? `${capital(waitingText(waiting, now))}.` : undefined
    lines.push({ ...waitLine(last, freeSince, now, why), kind: 'wait' })
  }
  return lines
}

const HELD = 'RingCentral had paused the extension, after a 429 for another message.'

function waitLine(before: Attempt | null, start: number, end: number, note: string | undefined): Line {
  if (before === null) return bar('Queued', 'queue', start, end, note)
  const name = before.httpStatus === 429 ? 'Paused' : before.outcome === 'unknown' ? 'Checked' : 'Waited'
  return bar(name, 'wait', start, end, note)
}

function lineOf(
  entry: Exclude<TimelineEntry, { type: 'scheduled' | 'attempt' }>,
  at: number,
  webhooks: readonly DeliveryAttempt[],
  sentAt: number,
): Line {
  switch (entry.type) {
    case 'queued':
      return point('Accepted', at, withAttachments(entry.attachments))
    case 'failed':
      return isCancelled(entry.error) ? point('Cancelled', at) : point('Failed', at, undefined, 'bad-point')
    case 'undelivered':
      return point('Not delivered', at, `${entry.reason}.`, 'bad-point')
    case 'webhook':
      return webhookLine(entry, at, webhooks)
    case 'sent':
      return point('Sent', at)
    case 'delivered':
      return point('Delivered', at, sentAt < at ? `Known ${duration(at - sentAt)} after it was sent.` : undefined)
    case 'received':
      return point('Received', at, withAttachments(entry.attachments))
  }
}

const withAttachments = (count = 0): string | undefined => (count === 0 ? undefined : `With ${attachmentsText(count)}.`)

/** `now`: it runs. */
function attemptLine(entry: Attempt, at: number, now: number | null, isUseless: boolean): Line {
  const { number, outcome, durationMs } = entry
  const name = `Attempt ${number}`
  if (now !== null)
    return { ...bar(name, 'work', at, Math.max(at, now), 'RingCentral has not answered yet.'), measure: 'runs' }
  const end = at + (durationMs ?? 0)
  const line =
    outcome === 'accepted' ? bar(name, 'work', at, end) : bar(name, 'bad-work', at, end, attemptNote(entry, isUseless))
  return durationMs === null ? { ...line, measure: '–' } : line
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
  const missing = outcome === 'not_accepted' ? 'The call did not get through' : 'No answer'
  const status = httpStatus === undefined ? missing : `HTTP ${httpStatus}`
  const said = [status, errorCode, message && `“${message}”`].filter(Boolean).join(', ')
  // A 429 says nothing about the message: it failed for a later reason.
  const isFinal = isUseless && outcome === 'not_accepted' && httpStatus !== 429
  return `${said}. ${isFinal ? 'Not accepted. Repeating would fail, too.' : MEANINGS[outcome]}`
}

/** Where it went. The webhooks below show the answers. */
function webhookLine(
  { outcome, attemptNumber, deliveryId }: Extract<TimelineEntry, { type: 'webhook' }>,
  at: number,
  webhooks: readonly DeliveryAttempt[],
): Line {
  const url = webhooks.find((attempt) => attempt.deliveryId === deliveryId)?.url
  const name = attemptNumber === 1 ? 'Webhook' : `Webhook ${attemptNumber}`
  const note = url === undefined ? undefined : `To ${new URL(url).host}.`
  return point(name, at, note, outcome === 'success' ? 'point' : 'bad-point')
}
