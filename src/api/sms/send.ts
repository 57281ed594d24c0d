import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { parseDateTime } from '../../core/date-time.ts'
import { MAX_MEDIA_BYTES, MAX_SCHEDULE_AHEAD_MS } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { findMedia } from '../../messages/media/find-media.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import { type SendResult, acceptMessage } from './accept-message.ts'
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
  const media = Array.isArray(message.mediaIds) ? await checkedMedia(gateway, caller, message.mediaIds, now) : NO_MEDIA
  const checked = { ...message, sendAt, media }
  const once = key === null ? null : { key, requestHash: requestHash(checked) }
  return acceptMessage(gateway, caller, checked, once, now)
}

const NO_MEDIA: readonly StoredMedia[] = []

type Checked = SendBody & { sendAt: number | null; media: readonly StoredMedia[] }

/**
 * What the hash of a request has of each field, so that a repeated key with another value of it is a conflict. A field that came later
 * adds nothing where it is absent: requests without it keep the hashes of earlier releases.
 */
const HASHED: Record<keyof SendBody, (request: Checked) => unknown[]> = {
  to: ({ to }) => [to],
  from: ({ from }) => [from],
  body: ({ body }) => [body],
  userId: ({ userId }) => [userId],
  sendAt: ({ sendAt }) => (sendAt === null ? [] : [sendAt]),
  // The same files may have been uploaded again under other ids.
  mediaIds: ({ media }) => (media.length === 0 ? [] : [media.map(contentOf)]),
}

const contentOf = ({ sha256, contentType, fileName }: StoredMedia): unknown[] => [sha256, contentType, fileName]

const requestHash = (request: Checked): string =>
  sha256Hex(JSON.stringify(Object.values(HASHED).flatMap((hashed) => hashed(request))))

/** The media of these ids, in their order. Errors: `unknownMedia`, `badMediaIds`. */
async function checkedMedia(
  { database }: Gateway,
  { tenantId }: Caller,
  mediaIds: readonly string[],
  now: number,
): Promise<readonly StoredMedia[]> {
  const media = await findMedia(database.gate, tenantId, mediaIds, now)
  if (media === null) throw apiError('unknownMedia')
  if (media.reduce((bytes, { size }) => bytes + size, 0) > MAX_MEDIA_BYTES) throw apiError('badMediaIds')
  return media
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
