import type { ExtensionHealth, Overview, OverviewDestination } from '../../../client/client.ts'
import type { Part } from '../facts/fact.ts'
import { countOf, isPaused, isStopped, numbersOf, waitsOf } from '../facts/facts-of.ts'
import type { IconName } from '../parts/icon-paths.ts'
import { earliest, latest } from '../parts/ends.ts'
import { clockTime, count, duration } from '../state/clock.ts'

type Kind = 'plain' | 'warn' | 'bad'

/** One direction between two stations. A broken one has an icon. */
export interface Segment {
  /** `1,204`, or – if unknown. */
  figure: string
  word: string
  kind: Kind
  icon: IconName | null
}

export interface Station {
  name: string
  lines: readonly { text: string; kind: Kind }[]
}

/** The path of a text: four stations, and between them the lane to the phones and the lane back. */
export interface Wire {
  stations: readonly [Station, Station, Station, Station]
  out: readonly [Segment, Segment, Segment]
  back: readonly [Segment, Segment, Segment]
}

const fine = (value: number | null, word: string): Segment => ({
  figure: count(value),
  word,
  kind: 'plain',
  icon: null,
})
const broken = (figure: string, word: string, kind: Kind, icon: IconName): Segment => ({ figure, word, kind, icon })
const line = (text: string, kind: Kind = 'plain') => ({ text, kind })

/** The labels on the wire. `now` in milliseconds. */
export function wireOf(overview: Overview, extensions: readonly ExtensionHealth[], now: number): Wire {
  const { totals } = overview
  return {
    stations: [
      { name: 'Your apps', lines: [line(webhooksText(overview))] },
      { name: 'Gateway', lines: [queueLine(overview, now), line(`${latency(overview.p50Ms)} to send`)] },
      { name: 'RingCentral', lines: [numbersLine(extensions, now)] },
      { name: 'Phones', lines: [deliveryLine(overview)] },
    ],
    out: [
      fine(totals.accepted, 'accepted'),
      notAble('send', extensions) ?? sending(overview),
      fine(isDeliveryKnown(overview) ? totals.delivered : null, 'delivered'),
    ],
    back: [
      passedOn(overview),
      notAble('receive', extensions) ?? receiving(overview, extensions),
      fine(totals.received, 'texts'),
    ],
  }
}

/** `0.9 s`, or – if nothing was sent. */
export const latency = (ms: number | null): string => (ms === null ? '–' : duration(ms))

const webhooksText = ({ destinations: { length } }: Overview): string =>
  length === 0 ? 'nothing posted' : length === 1 ? '1 webhook' : `${length} webhooks`

function queueLine(overview: Overview, now: number) {
  const waits = waitsOf(overview)
  const oldest = earliest(waits.map(({ since }) => since))
  if (oldest !== null) return line(`${count(countOf(waits))} wait, oldest ${rough(now - Date.parse(oldest))}`, 'warn')
  const { queued, scheduled } = overview
  if (queued > scheduled) return line(`${count(queued - scheduled)} in the queue`)
  return line(scheduled > 0 ? `${count(scheduled)} scheduled` : 'queue empty')
}

/** The larger unit is enough on the map. */
const rough = (ms: number): string =>
  duration(ms)
    .replace(/^(\d+ (?:min|h|d)) .*$/, '$1')
    .replace(/\.\d/, '')

/** Numbers that can send, but not yet: RingCentral has paused them. */
const pausedOf = (extensions: readonly ExtensionHealth[], now: number): readonly ExtensionHealth[] =>
  extensions.filter((each) => !isStopped(each) && isPaused(each, now))

function numbersLine(extensions: readonly ExtensionHealth[], now: number) {
  const all = numbersOf(extensions).length
  const stopped = all - numbersOf(extensions.filter((each) => !isStopped(each))).length
  const paused = numbersOf(pausedOf(extensions, now)).length
  if (all === 0) return line('no number', extensions.length === 0 ? 'bad' : 'plain')
  if (stopped > 0)
    return line(
      paused > 0 ? `${stopped} cannot send, ${paused} paused` : `${all - stopped} of ${all} numbers send`,
      'bad',
    )
  if (paused > 0) return line(`${paused} of ${all} numbers paused`, 'warn')
  return line(all === 1 ? '1 number' : `${all} numbers`)
}

/** What the numbers can do now, if nothing else is wrong: a sentence without the final period. `now` in milliseconds. */
export function numbersSentence(extensions: readonly ExtensionHealth[], now: number): Part[] {
  const numbers = numbersOf(extensions)
  const [number] = numbers
  if (number === undefined)
    return [`${extensions.length === 1 ? 'The extension has' : 'The extensions have'} no number for texts`]
  const those = pausedOf(extensions, now)
  const [paused, all] = [numbersOf(those).length, numbers.length]
  if (paused > 0) {
    const who = paused === all ? 'No number' : `${all - paused} of ${all} numbers`
    const until = latest(those.map(({ pausedUntil }) => pausedUntil)) ?? ''
    return [`${who} can send now: RingCentral paused ${all === 1 ? 'it' : paused} until ${clockTime(until)}`]
  }
  return all > 1 ? [`All ${all} numbers can send and receive`] : [{ number }, ' can send and receive']
}

/** If a number is missing or stopped. */
function notAble(to: 'send' | 'receive', extensions: readonly ExtensionHealth[]): Segment | null {
  const stopped = extensions.filter(isStopped)
  if (extensions.length === 0) return broken('', 'no number', 'bad', 'failed')
  return stopped.length > 0 ? broken(countOfNumbers(stopped), `cannot ${to}`, 'bad', 'failed') : null
}

function sending(overview: Overview): Segment {
  const waiting = countOf(waitsOf(overview))
  return waiting > 0 ? broken(count(waiting), 'wait', 'warn', 'waiting') : fine(overview.totals.sent, 'sent')
}

function receiving(overview: Overview, extensions: readonly ExtensionHealth[]): Segment {
  const late = extensions.filter(({ reason }) => reason !== null)
  return late.length > 0
    ? broken(countOfNumbers(late), 'late', 'warn', 'queued')
    : fine(overview.totals.received, 'received')
}

/** The extension itself, if its numbers are unknown. */
const countOfNumbers = (extensions: readonly ExtensionHealth[]): string =>
  count(Math.max(numbersOf(extensions).length, extensions.length))

function passedOn({ destinations }: Overview): Segment {
  const sum = (of: (each: OverviewDestination) => number): number =>
    destinations.reduce((all, each) => all + of(each), 0)
  const lost = sum(({ neverArrived }) => neverArrived)
  if (lost > 0) return broken(count(lost), 'never arrived', 'bad', 'failed')
  const failed = sum(({ failingSince, failures }) => (failingSince ? failures : 0))
  if (failed > 0) return broken(count(failed), 'failed', 'bad', 'failed')
  return fine(destinations.length === 0 ? null : sum(({ success }) => success), 'passed on')
}

/** Without tracking, and in the first seconds, nobody knows what happened to sent messages. */
const isDeliveryKnown = ({ totals: { sent, delivered, undelivered } }: Overview): boolean =>
  sent === 0 || delivered + undelivered > 0

function deliveryLine(overview: Overview) {
  const { undelivered } = overview.totals
  if (!isDeliveryKnown(overview)) return line('delivery not known')
  return line(`${count(undelivered)} not delivered`, undelivered > 0 ? 'bad' : 'plain')
}
