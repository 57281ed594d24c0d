import { MESSAGE_ERRORS } from '../../core/errors.ts'
import { DEFAULT_PENALTY_MS, MAX_SEND_ATTEMPTS } from '../../core/limits.ts'
import type { AttemptOutcome } from '../../db/schema/messages.ts'
import type { AcceptedSms, ProviderFailure } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/session.ts'

/** What a call, or a look into the provider's store, means for the message. */
export type Verdict =
  | { status: 'sent'; outcome: 'accepted'; rcMessageId: string }
  | { status: 'failed'; outcome: AttemptOutcome; rcMessageId: string | null; error: string }
  | { status: 'sending'; outcome: 'not_accepted' | 'absent'; delayMs: number }

const RETRY_FIRST_MS = 2000
const RETRY_MAX_MS = 60_000

/** The decision table for calls whose outcome is known. */
export function verdictOf(result: CallResult<AcceptedSms>, number: number): Verdict {
  if (result.type === 'ok') return acceptedVerdict(result.value)
  if (result.type === 'gone') return failed('not_accepted', MESSAGE_ERRORS.revoked)
  if (result.type === 'waiting') return { status: 'sending', outcome: 'not_accepted', delayMs: result.retryInMs }
  const { failure } = result
  switch (failure.reason) {
    case 'unauthorized':
      return failed('not_accepted', MESSAGE_ERRORS.revoked)
    case 'rate_limited':
      return { status: 'sending', outcome: 'not_accepted', delayMs: failure.retryAfterMs ?? DEFAULT_PENALTY_MS }
    case 'unavailable':
    case 'unreachable':
      return { status: 'sending', outcome: 'not_accepted', delayMs: retryDelayMs(number, failure) }
    default:
      return failed('rejected', MESSAGE_ERRORS.rejected(failure.message, failure.code))
  }
}

function acceptedVerdict(sms: AcceptedSms): Verdict {
  if (!sms.failed) return { status: 'sent', outcome: 'accepted', rcMessageId: sms.providerMessageId }
  const error = MESSAGE_ERRORS.rejected('sending failed', null)
  return { status: 'failed', outcome: 'accepted', rcMessageId: sms.providerMessageId, error }
}

const failed = (outcome: AttemptOutcome, error: string): Verdict => ({
  status: 'failed',
  outcome,
  rcMessageId: null,
  error,
})

/** What follows when the provider's store has no trace of an attempt after the settle time. */
export const absentVerdict = (number: number): Verdict =>
  number >= MAX_SEND_ATTEMPTS
    ? failed('absent', MESSAGE_ERRORS.unconfirmed)
    : { status: 'sending', outcome: 'absent', delayMs: 0 }

/** 2 s, 4 s, 8 s … 60 s, or what the provider asks for if that is longer. */
export function retryDelayMs(number: number, failure: ProviderFailure): number {
  return Math.max(Math.min(RETRY_FIRST_MS * 2 ** (number - 1), RETRY_MAX_MS), failure.retryAfterMs ?? 0)
}
