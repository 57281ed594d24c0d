import { dayOf, rowTime, shortTime } from '../state/clock.ts'
import type { Waiting } from './row.ts'

/** Why a message has not gone out yet, short enough for a row on a phone. */
const SHORT_WAITS: Readonly<Record<Waiting['reason'], string>> = {
  suspended: 'tenant suspended',
  scheduled: 'goes out',
  restore: 'checked after restore',
  reauthorization: 'needs authorization',
  number_lookup: 'looking up number',
  reconciling: 'asking if it arrived',
  provider_unreachable: 'no answer',
  provider_paused: 'paused',
  order: 'after an earlier one',
  number_limit: 'limit of number',
  extension_limit: 'limit of extension',
}

/** The same as part of a sentence. */
const WAITS: Readonly<Record<Waiting['reason'], string>> = {
  suspended: 'the tenant is suspended',
  scheduled: 'it goes out',
  restore: 'it is checked after a restore',
  reauthorization: 'the extension must be authorized',
  number_lookup: 'the gateway looks up the number',
  reconciling: 'the gateway asks whether it arrived',
  provider_unreachable: 'RingCentral cannot be reached or does not answer',
  provider_paused: 'RingCentral paused the extension',
  order: 'an earlier message goes first',
  number_limit: 'the number is at its limit',
  extension_limit: 'the extension is at its limit',
}

/** `RingCentral paused extension 101 until 14:32:00`, `it goes out 25 Nov 09:00`. */
export const waitingText = (waiting: Waiting, now: number, extension = 'the extension'): string =>
  untilText(WAITS[waiting.reason].replace('the extension', extension), waiting, now)

/** `paused until 14:32:00`, for a row. */
export const shortWaitingText = (waiting: Waiting, now: number): string =>
  untilText(SHORT_WAITS[waiting.reason], waiting, now)

const DAY_MS = 86_400_000

function untilText(text: string, { reason, until }: Waiting, now: number): string {
  if (until === undefined) return text
  const time = dayOf(until) === dayOf(now + DAY_MS) ? `tomorrow ${shortTime(until)}` : rowTime(until, now)
  return `${text} ${reason === 'scheduled' ? '' : 'until '}${time}`
}

/** What the gateway does about a wait, and what a person can do. */
export const WAIT_ADVICE: Readonly<Record<Waiting['reason'], string>> = {
  suspended: 'It is held until the operator activates the tenant.',
  scheduled: 'Until then it can be cancelled.',
  restore: 'The gateway asks RingCentral whether it was sent before the restore, so that it is not sent twice.',
  reauthorization:
    'RingCentral did not renew the access of the extension. The gateway keeps trying; if that does not help, authorize the extension again.',
  number_lookup: 'The gateway asks RingCentral which extension has the number.',
  reconciling:
    'RingCentral did not answer clearly. The gateway looks in the message store, and sends again only if the text is not there.',
  provider_unreachable: 'The gateway keeps trying. Nothing is lost: the text goes out when RingCentral answers.',
  provider_paused:
    'RingCentral asked the gateway to slow down. Nothing is lost: the text goes out when the pause ends.',
  order: 'Messages of a number go out in the order in which they were accepted.',
  number_limit: 'A number sends 40 messages a minute. It goes out in its turn.',
  extension_limit: 'An extension sends 40 messages a minute. It goes out in its turn.',
}
