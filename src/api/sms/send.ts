import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { parseDateTime } from '../../core/date-time.ts'
import { IDEMPOTENCY_RETENTION_MS, MAX_SCHEDULE_AHEAD_MS } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { isConstraint } from '../../db/gate.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { KeptRequest, NewMessage } from '../../messages/sending/accept-rows.ts'
import { type Accepted, IdempotencyKey, type SendBody } from './schemas.ts'

export interface SendResult extends Accepted {
  /** True if an earlier request had the same `Idempotency-Key`. */
  replayed: boolean
}

/** Accepts a message. Resolves when it is on disk. Errors: `badIdempotencyKey`, `badSendAt`, `idempotencyConflict`. */
export async function send(
  gateway: Gateway,
  caller: Caller,
  message: SendBody,
  idempotencyKey: string | null,
): Promise<SendResult> {
  const key = checkedKey(idempotencyKey)
  const now = gateway.clock.now()
  const sendAt = checkedSendAt(message.sendAt, now)
  const row = newMessage(gateway, caller, { ...message, sendAt }, key, now)
  const { own, kept } = await accept(gateway, row, sendAt !== null && sendAt > now ? sendAt : null)
  if (kept.requestHash !== row.requestHash) throw apiError('idempotencyConflict')
  return { messageId: kept.messageId, status: 'queued', replayed: kept.messageId !== own.messageId }
}

const MESSAGE_ID_DRAWS = 5

/**
 * Stores the message. A message id has only 48 bits, so a new one is drawn if it is taken. `own` is the message of this request.
 * `kept` is the message that is stored for its key: for a repeated request that of the first one, and `own` is not stored.
 */
async function accept(
  { sending, ids }: Gateway,
  row: NewMessage,
  sendAt: number | null,
): Promise<{ own: NewMessage; kept: KeptRequest }> {
  for (let draw = 1, own = row; ; draw++) {
    try {
      const accepting = sendAt === null ? sending.accept(own) : sending.scheduled.accept({ ...own, sendAt })
      return { own, kept: await accepting }
    } catch (error) {
      if (!isConstraint(error) || draw >= MESSAGE_ID_DRAWS) throw error
      own = { ...row, messageId: ids.message(null) }
    }
  }
}

function newMessage(
  gateway: Gateway,
  caller: Caller,
  message: SendBody & { sendAt: number | null },
  key: string | null,
  now: number,
): NewMessage {
  const { to, from, body, userId } = message
  return {
    messageId: gateway.ids.message(now),
    jobId: gateway.ids.of('job'),
    tenantId: caller.tenantId,
    appId: caller.appId,
    userId,
    from,
    to,
    body,
    now,
    idempotencyKey: key,
    requestHash: key === null ? null : requestHash(message),
    keysExpiredBefore: key !== null && gateway.clockCheck.isTrusted ? now - IDEMPOTENCY_RETENTION_MS : 0,
  }
}

/** A request without `sendAt` has the same hash as in releases before `sendAt`. */
function requestHash({ to, from, body, userId, sendAt }: SendBody & { sendAt: number | null }): string {
  return sha256Hex(JSON.stringify([to, from, body, userId, ...(sendAt === null ? [] : [sendAt])]))
}

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
