import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { IDEMPOTENCY_RETENTION_MS } from '../../core/limits.ts'
import { isConstraint } from '../../db/gate.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { NewMessage, Stored } from '../../messages/sending/accept-rows.ts'
import { storedAttachments } from '../../messages/media/attachments.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import type { Attachment } from '../../provider/provider.ts'
import { isSameRequest } from './request-hash.ts'
import type { Accepted } from './schemas.ts'

export interface SendResult extends Accepted {
  /** True if an earlier request had the same key. */
  replayed: boolean
}

/** A text to one recipient, whose fields are checked. */
export interface CheckedMessage {
  from: string
  to: string
  body: string
  userId: string | null
  /** Epoch milliseconds; null if the message is not scheduled. */
  sendAt: number | null
  /** In order; empty for a text. */
  media: readonly StoredMedia[]
}

/** The `Idempotency-Key` of a message, and what distinguishes its request from another one with the same key. */
export interface Once {
  key: string
  requestHash: string
}

/** Accepts a message at the time `now`. Resolves when it is on disk. Errors: `idempotencyConflict`, `unknownMedia`. */
export async function acceptMessage(
  gateway: Gateway,
  caller: Caller,
  message: CheckedMessage,
  once: Once | null,
  now: number,
): Promise<SendResult> {
  const { sendAt } = message
  const row = newMessage(gateway, caller, message, once, now)
  const { own, kept } = await accept(gateway, row, sendAt !== null && sendAt > now ? sendAt : null)
  // Its media was deleted after it was looked up, so nothing is stored.
  if (kept.jobSeq === null && kept.messageId === own.messageId) throw apiError('unknownMedia')
  if (!isSameRequest(kept.requestHash, row.requestHash)) throw apiError('idempotencyConflict')
  return { messageId: kept.messageId, status: 'queued', replayed: kept.messageId !== own.messageId }
}

/**
 * Accepts a message in place of a failed one, unless that was already sent again; the storing commit decides. Returns whether it did. Errors:
 * `unknownMedia`.
 */
export async function acceptAgain(
  gateway: Gateway,
  caller: Caller,
  message: CheckedMessage,
  failedId: string,
  now: number,
): Promise<boolean> {
  const { own, kept } = await accept(
    gateway,
    { ...newMessage(gateway, caller, message, null, now), resentFrom: failedId },
    null,
  )
  if (kept.jobSeq !== null) return true
  // Its media, or the failed message, was deleted after it was looked up.
  if (kept.messageId === own.messageId) throw apiError('unknownMedia')
  return false
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
): Promise<{ own: NewMessage; kept: Stored }> {
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
  { from, to, body, userId, media }: CheckedMessage,
  once: Once | null,
  now: number,
): NewMessage {
  return {
    messageId: gateway.ids.message(now),
    jobId: gateway.ids.of('job'),
    tenantId: caller.tenantId,
    appId: caller.appId,
    userId,
    from,
    to,
    body,
    attachments: storedAttachments(media.map(attachmentOf)),
    now,
    idempotencyKey: once?.key ?? null,
    requestHash: once?.requestHash ?? null,
    keysExpiredBefore: once === null ? 0 : keysExpiredBefore(gateway, now),
    resentFrom: null,
  }
}

const attachmentOf = ({ mediaId, contentType, size, fileName }: StoredMedia): Attachment => ({
  attachmentId: mediaId,
  contentType,
  size,
  fileName,
  uri: null,
})

/** Epoch milliseconds. Keys stored before it have expired; none have while the clock is not trusted. */
export const keysExpiredBefore = ({ clockCheck }: Gateway, now: number): number =>
  clockCheck.isTrusted ? now - IDEMPOTENCY_RETENTION_MS : 0
