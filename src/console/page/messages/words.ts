import type { Timeline } from '../../../client/client.ts'
import type { IconName } from '../parts/icon-paths.ts'
import type { Standing } from '../state/standing.ts'
import { FAILURES, type FailureWord, REFUSAL, wordOf } from './failures.ts'
import type { ListRow } from './row.ts'

/** The shape and word of a message's state. The word carries the meaning; color means trouble. */
export interface StateWord {
  icon: IconName
  word: string
  kind: 'plain' | 'bad' | 'warn'
}

/** The fields of a message that show its state. */
type RowState = Pick<ListRow, 'direction' | 'status' | 'waiting' | 'deliveryStatus'> & { error?: string | null }

/** The state of a message: from its status, what it waits for, and what happened after `sent`. */
export function stateOf({ direction, status, error, waiting, deliveryStatus }: RowState): StateWord {
  if (direction === 'inbound') return { icon: 'received', word: 'Received', kind: 'plain' }
  if (isCancelled(error)) return { icon: 'cancelled', word: 'Cancelled', kind: 'plain' }
  if (wordOf(error) === 'opted_out') return { icon: 'optedOut', word: 'Opted out', kind: 'bad' }
  if (status === 'failed') return { icon: 'failed', word: 'Failed', kind: 'bad' }
  if (deliveryStatus === 'undelivered') return { icon: 'undelivered', word: 'Not delivered', kind: 'bad' }
  if (deliveryStatus === 'delivered') return { icon: 'delivered', word: 'Delivered', kind: 'plain' }
  if (status === 'sent') return { icon: 'sent', word: 'Sent', kind: 'plain' }
  if (waiting?.reason === 'scheduled') return { icon: 'scheduled', word: 'Scheduled', kind: 'plain' }
  if (waiting) return { icon: 'waiting', word: 'Waiting', kind: 'warn' }
  return status === 'sending'
    ? { icon: 'sending', word: 'Sending', kind: 'warn' }
    : { icon: 'queued', word: 'Queued', kind: 'plain' }
}

/** The error of a message that somebody cancelled. Its status is `failed`, and nothing went wrong. */
export const isCancelled = (error: string | null | undefined): boolean => wordOf(error) === 'cancelled'

/** A code's kind is its last three digits, but the carrier's 410 means that the text expired, and its 411 what others call 410. */
function kindOf(code: string | null | undefined): string {
  if (code === 'SMS-CAR-410') return 'expired'
  return code === 'SMS-CAR-411' ? '410' : (code?.slice(-3) ?? '')
}

/** Why a text was not delivered, for a row; null if the code says nothing. */
export const undeliveredShort = (code: string | null | undefined): string | null => UNDELIVERED[kindOf(code)] ?? null

const UNDELIVERED: Readonly<Partial<Record<string, string>>> = {
  expired: 'expired at the carrier',
  403: 'limit of number',
  410: 'cannot receive texts',
  413: 'recipient opted out',
  430: 'refused as spam',
}

/** What a person can do about a text that was not delivered. */
export const undeliveredAdvice = (code: string | null | undefined): string =>
  UNDELIVERED_ADVICE[kindOf(code)] ?? 'Whether sending it again helps is unknown.'

const UNDELIVERED_ADVICE: Readonly<Partial<Record<string, string>>> = {
  expired: 'Send it again.',
  403: 'Send it again when the limit has passed.',
  410: 'Sending it again will fail again.',
  413: 'Sending it again will fail again, until the recipient texts START.',
  430: 'Change the text before you send it again.',
}

/** An error in four parts: what happened, why in the provider's words, what the gateway does, and what a person can do. */
export interface Explained {
  what: string
  quote?: string
  code?: string
  advice: string
}

/** What happened, and what a person can do. */
const EXPLAINED: Record<FailureWord, readonly [what: string, advice: string]> = {
  not_connected: ['This tenant has no connected extension.', 'Connect an extension, then send it again.'],
  unknown_number: ['The number belongs to no connected extension.', 'Send from a number of a connected extension.'],
  revoked: ['The extension was revoked.', 'Authorize the extension again, then send it again.'],
  rejected: ['RingCentral refused the message.', 'The gateway does not try again. Sending it again will fail again.'],
  expired: ['It waited too long and expired before it could be sent.', 'It was never sent. Sending it again is safe.'],
  cancelled: ['It was cancelled before it was sent.', 'Nothing was sent. It can be sent again as a new message.'],
  unconfirmed: [
    'RingCentral never said whether it took the text.',
    'It may have arrived, so the gateway does not send it again. Ask the recipient before you do.',
  ],
  opted_out: [
    'The recipient has opted out, and this tenant blocks such messages.',
    'Nothing was sent. The recipient can opt in again by texting START.',
  ],
  no_media: [
    'The number can send only text.',
    'Nothing was sent. Toll-free numbers never send pictures: use another number, or a link in a text.',
  ],
}

/** Explains the `error` of a failed message. */
export function explained(error: string): Explained {
  const word = wordOf(error)
  if (word === undefined) return { what: `${error}.`, advice: 'The gateway does not try again.' }
  const [what, advice] = EXPLAINED[word]
  const [, quote, code] = REFUSAL.exec(error) ?? []
  if (quote !== undefined) return { what, quote, ...(code === undefined ? {} : { code }), advice }
  const [, number] = /^Phone number (\S+) is not registered/.exec(error) ?? []
  return { what: number === undefined ? what : what.replace('The number', number), advice }
}

/** Errors that say nothing of the next time. All others, and these ends of delivery codes, last until something else has changed. */
const PASSING: readonly (FailureWord | undefined)[] = ['expired', 'cancelled', 'unconfirmed', undefined]
const LASTING_CODES = ['410', '413', '430']

/** Whether a message that failed like this fails again until something else has changed. */
export const isLasting = (error: string | null | undefined): boolean => !PASSING.includes(wordOf(error))

/** Whether sending the same text again is known to be useless. */
export function failsAgain({ error }: ListRow, timeline: Timeline | null): boolean {
  const undelivered = timeline?.entries.findLast((entry) => entry.type === 'undelivered')
  const code = undelivered?.type === 'undelivered' ? undelivered.errorCode : undefined
  return isLasting(error) || LASTING_CODES.includes(kindOf(code))
}

/** What makes sending possible: authorizing the revoked extension again, another JWT for it, or connecting the tenant's first extension. */
export function cureOf(
  { error, from }: Pick<ListRow, 'error' | 'from'>,
  extensions: Standing['extensions'] = [],
): 'authorize' | 'jwt' | 'connect' | null {
  const isByJwt = extensions.some((one) => one.connectedBy === 'jwt' && one.phoneNumbers.includes(from))
  const word = wordOf(error)
  if (word === 'revoked') return isByJwt ? 'jwt' : 'authorize'
  return word === 'not_connected' ? 'connect' : null
}

/** The reason of a failure in a few words, for a row. */
export function explainedShort(error: string): string {
  const word = wordOf(error)
  const short = word === undefined ? error : FAILURES[word][1]
  const code = REFUSAL.exec(error)?.[2]
  return code === undefined ? short : `${short}, ${code}`
}
