import { and, eq, gte } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { parseDateTime } from '../../core/date-time.ts'
import { MAX_MEDIA_BYTES, MAX_SCHEDULE_AHEAD_MS } from '../../core/limits.ts'
import { idempotencyKeys } from '../../db/schema/messages.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { findMedia } from '../../messages/media/find-media.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import { type SendResult, acceptMessage, keysExpiredBefore } from './accept-message.ts'
import { type TimedSend, isOfRequest, requestHash } from './request-hash.ts'
import { IdempotencyKey, type SendBody } from './schemas.ts'

/** Accepts a message. Resolves when it is on disk. Errors: `badIdempotencyKey`, `badSendAt`, `unknownMedia`, `badMediaIds`, `idempotencyConflict`. */
export async function send(
  gateway: Gateway,
  caller: Caller,
  message: SendBody,
  idempotencyKey: string | null,
): Promise<SendResult> {
  const key = checkedKey(idempotencyKey)
  const now = gateway.clock.now()
  const sendAt = checkedSendAt(message.sendAt, now)
  const timed = { ...message, sendAt }
  const media = Array.isArray(message.mediaIds) ? await checkedMedia(gateway, caller, message.mediaIds, now) : NO_MEDIA
  if (media === null) return repeated(gateway, caller, timed, key, now)
  const once = key === null ? null : { key, requestHash: requestHash(timed, media) }
  return acceptMessage(gateway, caller, { ...timed, media }, once, now)
}

const NO_MEDIA: readonly StoredMedia[] = []

/** The media of these ids, in their order; null if one of them is gone or was never there. Errors: `badMediaIds`. */
async function checkedMedia(
  { database }: Gateway,
  { tenantId }: Caller,
  mediaIds: readonly string[],
  now: number,
): Promise<readonly StoredMedia[] | null> {
  const media = await findMedia(database.gate, tenantId, mediaIds, now)
  if (media !== null && media.reduce((bytes, { size }) => bytes + size, 0) > MAX_MEDIA_BYTES)
    throw apiError('badMediaIds')
  return media
}

/**
 * Repeats the first answer to a request whose files were deleted since: otherwise, a client that lost the answer would upload them again, and
 * send a second message. Errors: `unknownMedia`, `idempotencyConflict`.
 */
async function repeated(
  gateway: Gateway,
  { appId }: Caller,
  request: TimedSend,
  key: string | null,
  now: number,
): Promise<SendResult> {
  if (key === null) throw apiError('unknownMedia')
  const { messageId, requestHash: hash, createdAt } = idempotencyKeys
  const [kept] = await gateway.database.orm
    .select({ messageId, hash })
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.appId, appId),
        eq(idempotencyKeys.key, key),
        gte(createdAt, keysExpiredBefore(gateway, now)),
      ),
    )
  if (kept === undefined) throw apiError('unknownMedia')
  if (!isOfRequest(kept.hash, request)) throw apiError('idempotencyConflict')
  return { messageId: kept.messageId, status: 'queued', replayed: true }
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
