import { MESSAGE_FAILURES, type MessageFailure, rejected } from '../../core/message-failure.ts'
import type { AttemptOutcome } from '../../db/schema/messages.ts'
import type { SmsAnswer } from '../../provider/outbound-sms.ts'
import type { ProviderFailure } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/extension-calls.ts'

/** The meaning of a call's result for its message. */
export type CallEnd =
  | { type: 'sent'; outcome: AttemptOutcome; rcMessageId: string }
  | { type: 'failed'; outcome: AttemptOutcome; rcMessageId: string | null; failure: MessageFailure }
  /** The provider did not accept the message: it waits for another attempt. */
  | { type: 'retry'; outcome: AttemptOutcome }
  /** The provider may have accepted the message: a lookup in its message store must decide. */
  | { type: 'unknown' }

/** Maps the result of a call to its end. */
export function callEnd(result: CallResult<SmsAnswer>): CallEnd {
  switch (result.type) {
    case 'ok':
      return acceptedEnd(result.value.providerMessageId, result.value.failed)
    case 'failed':
      return failedEnd(result.failure)
    // No call was made, or it was answered 401. The scheduler then finds no sender, or waits for the token or for the end of the pause.
    case 'gone':
    case 'deferred':
      return { type: 'retry', outcome: 'not_accepted' }
  }
}

function failedEnd(failure: ProviderFailure): CallEnd {
  switch (failure.reason) {
    case 'ambiguous':
      return { type: 'unknown' }
    case 'rate_limited':
    case 'unavailable':
    case 'unreachable':
    case 'intercepted':
      return { type: 'retry', outcome: 'not_accepted' }
    case 'unauthorized':
      return { type: 'failed', outcome: 'not_accepted', rcMessageId: null, failure: MESSAGE_FAILURES.revoked }
    case 'rejected':
      return rejectedEnd(failure)
  }
}

/** The end of a call that the provider accepted. If its answer says that sending failed, clients get the error of a rejected message. */
const acceptedEnd = (rcMessageId: string, hasFailed: boolean): CallEnd =>
  hasFailed
    ? { type: 'failed', outcome: 'accepted', rcMessageId, failure: rejected('sending failed', null) }
    : { type: 'sent', outcome: 'accepted', rcMessageId }

/** RingCentral: "Phone number doesn't belong to extension". It may have moved to another extension. */
const NUMBER_MOVED = 'MSG-304'

function rejectedEnd(failure: ProviderFailure): CallEnd {
  if (isMovedNumber(failure)) return { type: 'retry', outcome: 'rejected' }
  const { message, code } = failure
  return { type: 'failed', outcome: 'rejected', rcMessageId: null, failure: rejected(message, code) }
}

/** RingCentral: the app, or the user, lacks a permission. Any other message is refused as well. */
const FORBIDDEN: readonly (string | null)[] = ['CMN-401', 'CMN-408']

export const isForbidden = ({ reason, code }: ProviderFailure): boolean =>
  reason === 'rejected' && FORBIDDEN.includes(code)

export const isMovedNumber = ({ reason, code }: ProviderFailure): boolean =>
  reason === 'rejected' && code === NUMBER_MOVED
