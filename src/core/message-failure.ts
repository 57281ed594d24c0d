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

/** The contract's message-level errors, and ours. */
export const MESSAGE_FAILURES = {
  notConnected: { code: 'not_connected', text: 'Telephony provider not connected for this tenant' },
  revoked: { code: 'revoked', text: 'Extension not connected — re-authorize via invite link' },
  expired: { code: 'expired', text: 'Message expired before it could be sent' },
  cancelled: { code: 'cancelled', text: 'Cancelled before sending' },
  unconfirmed: { code: 'unconfirmed', text: 'Delivery could not be confirmed with the provider' },
  optedOut: { code: 'opted_out', text: 'Recipient opted out' },
  cannotSendMedia: { code: 'no_media', text: 'From number cannot send media' },
} as const satisfies Record<string, MessageFailure>

/** These are not sent again: somebody stopped them, the contact did, or they may have arrived. */
export const NEVER_SENT_AGAIN: readonly string[] = [
  MESSAGE_FAILURES.cancelled.text,
  MESSAGE_FAILURES.optedOut.text,
  MESSAGE_FAILURES.unconfirmed.text,
]

/** A message can fail this long after it was accepted: 30 days of `sendAt`, and the time in the queue. */
export const LONGEST_BEFORE_FAILURE_MS = 38 * DAY_MS

/** Begins the `Idempotency-Key` with which a failed message is sent again; its id follows. */
export const RESEND_KEY = 'resend-'

export const unknownNumber = (number: string): MessageFailure => ({
  code: 'unknown_number',
  text: `Phone number ${number} is not registered in this provider account`,
})

/** `message` and `code` are the provider's own. */
export function rejected(message: string, code: string | null): MessageFailure {
  const text = `Provider rejected the message: ${message}${code === null ? '' : ` (${code})`}`
  return { code: 'rejected', text: text.slice(0, ERROR_MESSAGE_LENGTH) }
}
