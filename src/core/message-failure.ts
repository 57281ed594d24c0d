import { DAY_MS, ERROR_MESSAGE_LENGTH } from './limits.ts'

/** Stable codes for why a message failed. Code compares these, never the texts. */
export const FAILURE_CODES = [
  'not_connected',
  'unknown_number',
  'revoked',
  'rejected',
  'expired',
  'cancelled',
  'unconfirmed',
  'opted_out',
  'no_media',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

/** Why a message failed: its code, and the text that its `error` field shows. */
export interface MessageFailure {
  code: FailureCode
  text: string
}

/** The contract's message-level errors, and the gateway's own. */
export const MESSAGE_FAILURES = {
  notConnected: { code: 'not_connected', text: 'Telephony provider not connected for this tenant' },
  revoked: { code: 'revoked', text: 'Extension not connected — re-authorize via invite link' },
  expired: { code: 'expired', text: 'Message expired before it could be sent' },
  cancelled: { code: 'cancelled', text: 'Cancelled before sending' },
  unconfirmed: { code: 'unconfirmed', text: 'Delivery could not be confirmed with the provider' },
  optedOut: { code: 'opted_out', text: 'Recipient opted out' },
  cannotSendMedia: { code: 'no_media', text: 'From number cannot send media' },
} as const satisfies Record<string, MessageFailure>

/** A message can fail this long after it was accepted: 30 days of `sendAt`, plus the time in the queue. */
export const LONGEST_BEFORE_FAILURE_MS = 38 * DAY_MS

export const unknownNumber = (number: string): MessageFailure => ({
  code: 'unknown_number',
  text: `Phone number ${number} is not registered in this provider account`,
})

/** `message` and `code` are the provider's own. */
export function rejected(message: string, code: string | null): MessageFailure {
  const text = `Provider rejected the message: ${message}${code === null ? '' : ` (${code})`}`
  return { code: 'rejected', text: text.slice(0, ERROR_MESSAGE_LENGTH) }
}

/** The provider's code of a refusal, at the end of its text. */
const PROVIDER_CODE = /^.* \(([\w.-]{1,64})\)$/s
const CODES = new Map<string, FailureCode>(Object.values(MESSAGE_FAILURES).map(({ code, text }) => [text, code]))

/**
 * Why a message failed, in one word, from its stored error: its code, and for a refusal also the provider's: `rejected:CMN-101`. A text that
 * the gateway did not write is the provider's, as for the column `error_code`.
 */
export function failureOf(error: string): string {
  const known = CODES.get(error) ?? (error.startsWith('Phone number ') ? 'unknown_number' : undefined)
  if (known !== undefined) return known
  const code = PROVIDER_CODE.exec(error)?.[1]
  return code === undefined ? 'rejected' : `rejected:${code}`
}

/** A failure that can be asked for. `rejected` is any refusal. */
export const FAILURE_PATTERN = `^(${FAILURE_CODES.join('|')}|rejected:[\\w.-]{1,64})$`
const FAILURE = new RegExp(FAILURE_PATTERN)
export const isFailure = (text: string): boolean => FAILURE.test(text)

/** How to find it among failed messages: by code, and by the end of the text if the provider's code matters. */
export function storedAs(failure: string): { code: string; ending?: string } {
  const [code = '', provider] = failure.split(':')
  return { code, ...(provider === undefined ? {} : { ending: ` (${provider})` }) }
}
