import type { ExtensionHealth, FailureGroup } from '../../../client/client.ts'
import { loadingOf } from '../state/loading.ts'
import { operator } from '../state/caller.ts'
import { queryOf } from './filters.ts'
import type { MessageList } from './list-state.ts'
import { REFUSAL, type FailureWord } from './failures.ts'

/** Failures by reason; cancelled messages are not trouble. */
const readings = new WeakMap<MessageList, ReturnType<typeof readingOf>>()

/** The reasons of a list's messages, read for all parts of the view together. */
export function reasonsOf(list: MessageList) {
  const known = readings.get(list) ?? readingOf(list)
  readings.set(list, known)
  return known
}

const readingOf = (list: MessageList) =>
  loadingOf(async () => {
    const { state: _, ...query } = queryOf(list.filter, list.apps)
    return (await list.sgw.sms.failures(query)).filter(({ failure }) => failure !== 'cancelled')
  })

/** A reason, as in the heading after `have one cause: ` and as the title of its group, and whether sending again helps. */
const WORDS: Readonly<Record<FailureWord, readonly [cause: string, title: string, again: string]>> = {
  not_connected: [
    'no extension is connected',
    'The tenant has no connected extension',
    'Sending again works once an extension is connected.',
  ],
  unknown_number: [
    '# is not connected',
    '# belongs to no connected extension',
    'Sending again works from a connected number.',
  ],
  revoked: ['the extension was revoked', 'The extension was revoked', 'Sending again works once it is authorized.'],
  rejected: ['RingCentral refused them', 'RingCentral refused the text', 'Sending again would fail, too.'],
  expired: ['they waited too long', 'They waited too long', 'They were never sent. Sending again is safe.'],
  cancelled: ['they were cancelled', 'They were cancelled', 'Nothing to do.'],
  unconfirmed: [
    'RingCentral never confirmed them',
    'RingCentral never said whether it took them',
    'They may have arrived. Ask the recipients, and send each one again separately.',
  ],
  opted_out: [
    'the recipients have opted out',
    'The recipient has opted out',
    'Nothing to do. Contacts opt in again by texting START.',
  ],
  no_media: [
    'the number can send only text',
    'The number can send only text',
    'Sending again works from a number that sends pictures.',
  ],
}

/** The words for a group. `#` stands for several different numbers. */
export function wordsOf({ failure, error }: FailureGroup) {
  const [word, code] = failure.split(':')
  const [cause, title, again] = WORDS[word as FailureWord]
  const number = /^Phone number (\S+)/.exec(error ?? '')?.[1]
  const named = (text: string): string =>
    number === undefined
      ? text.replace('# is', 'their numbers are').replace('# belongs', 'Their numbers belong')
      : text.replace('#', number)
  const quote = REFUSAL.exec(error ?? '')?.[1]
  return {
    cause: code === undefined ? named(cause) : `${cause} (${code})`,
    title: code === undefined ? named(title) : `${title} (${code})`,
    again: quote === undefined ? again : `RingCentral said “${quote}”. ${again}`,
  }
}

/** What a person can do about a group: bring an extension back, send the messages again, or ask an operator, as only they may. */
type Way = 'authorize' | 'jwt' | 'connect' | 'resend' | 'ask' | null

/** The reasons that end when an extension is connected again. */
const MENDED: readonly string[] = ['revoked', 'not_connected']
const RESENT: readonly string[] = ['not_connected', 'unknown_number', 'revoked', 'expired', 'no_media']

/** While the extensions are not known, only sending again is offered, for reasons that no extension can fix. */
export function wayOf({ failure, count, resent }: FailureGroup, extensions?: readonly ExtensionHealth[]): Way {
  if (extensions === undefined && MENDED.includes(failure)) return null
  const revoked = extensions?.find(({ status }) => status === 'revoked')
  if (failure === 'revoked' && revoked !== undefined) return revoked.connectedBy === 'jwt' ? 'jwt' : 'authorize'
  if (failure === 'not_connected' && extensions?.length === 0) return 'connect'
  if (!RESENT.includes(failure) || count <= resent) return null
  return operator.value === null ? 'ask' : 'resend'
}
