import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import { IDEMPOTENCY_RETENTION_MS } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { isConstraint } from '../../db/gate.ts'
import type { Gateway } from '../../gateway.ts'
import type { KeptRequest, NewMessage } from '../../sending/accept-rows.ts'
import { type Accepted, IdempotencyKey, type SendBody } from './schemas.ts'

export interface Sent extends Accepted {
  /** True when an earlier request with the same `Idempotency-Key` was answered before. */
  replayed: boolean
}

/** Accepts a message: when this answers, it is on disk. Errors: `badIdempotencyKey`, `idempotencyConflict`. */
export async function send(
  gateway: Gateway,
  caller: Caller,
  message: SendBody,
  idempotencyKey: string | null,
): Promise<Sent> {
  const row = newMessage(gateway, caller, message, checkedKey(idempotencyKey))
  const { accepted, kept } = await accept(gateway, row)
  if (kept.requestHash !== row.requestHash) throw apiError('idempotencyConflict')
  return { messageId: kept.messageId, status: 'queued', replayed: kept.messageId !== accepted.messageId }
}

const MESSAGE_ID_DRAWS = 5

/** A message id has only 48 bits: one that is taken is drawn again. */
async function accept(gateway: Gateway, row: NewMessage): Promise<{ accepted: NewMessage; kept: KeptRequest }> {
  for (let draw = 1, accepted = row; ; draw++) {
    try {
      return { accepted, kept: await gateway.sending.accept(accepted) }
    } catch (error) {
      if (!isConstraint(error) || draw >= MESSAGE_ID_DRAWS) throw error
      accepted = { ...row, messageId: gateway.ids.message(null) }
    }
  }
}

function newMessage(gateway: Gateway, caller: Caller, message: SendBody, key: string | null): NewMessage {
  const { to, from, body, userId } = message
  const now = gateway.clock.now()
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
    requestHash: key === null ? null : sha256Hex(JSON.stringify([to, from, body, userId])),
    expiredBefore: now - IDEMPOTENCY_RETENTION_MS,
  }
}

function checkedKey(key: string | null): string | null {
  if (key === null) return null
  if (!IdempotencyKey.safeParse(key).success) throw apiError('badIdempotencyKey')
  return key
}
