import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { parseDateTime } from '../../core/date-time.ts'
import { MAX_SCHEDULE_AHEAD_MS } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type SendResult, acceptMessage } from './accept-message.ts'
import { IdempotencyKey, type SendBody } from './schemas.ts'

/** Accepts a message. Resolves when it is on disk. Errors: `badIdempotencyKey`, `badSendAt`, `idempotencyConflict`. */
export async function send(
  gateway: Gateway,
  caller: Caller,
  message: SendBody,
  idempotencyKey: string | null,
): Promise<SendResult> {
  const key = checkedKey(idempotencyKey)
  const now = gateway.clock.now()
  const scheduled = { ...message, sendAt: checkedSendAt(message.sendAt, now) }
  const once = key === null ? null : { key, requestHash: requestHash(scheduled) }
  return acceptMessage(gateway, caller, scheduled, once, now)
}

type Scheduled = SendBody & { sendAt: number | null }

/**
 * What the hash of a request has of each field, so that a repeated key with another value of it is a conflict. A field that came later
 * adds nothing where it is absent: requests without it keep the hashes of earlier releases.
 */
const HASHED: Record<keyof SendBody, (request: Scheduled) => unknown[]> = {
  to: ({ to }) => [to],
  from: ({ from }) => [from],
  body: ({ body }) => [body],
  userId: ({ userId }) => [userId],
  sendAt: ({ sendAt }) => (sendAt === null ? [] : [sendAt]),
}

const requestHash = (request: Scheduled): string =>
  sha256Hex(JSON.stringify(Object.values(HASHED).flatMap((hashed) => hashed(request))))

/** Epoch milliseconds; null if the message is not scheduled. Errors: `badSendAt`. */
function checkedSendAt(value: unknown, now: number): number | null {
  if (value === undefined) return null
  const sendAt = typeof value === 'string' ? parseDateTime(value) : null
  if (sendAt === null || sendAt > now + MAX_SCHEDULE_AHEAD_MS) throw apiError('badSendAt')
  return sendAt
}

function checkedKey(key: string | null): string | null {
  if (key === null) return null
  if (!IdempotencyKey.safeParse(key).success) throw apiError('badIdempotencyKey')
  return key
}
