import { sha256Hex } from '../../core/secrets.ts'
import type { StoredMedia } from '../../messages/media/media-rows.ts'
import type { SendBody } from './schemas.ts'

/** A send whose time is checked: epoch milliseconds, or null. */
export type TimedSend = SendBody & { sendAt: number | null }

/**
 * Distinguishes a send from another one with the same key. With media it is two hashes, `BY_CONTENT.BY_ID`: the same files may have been
 * uploaded again under other ids, and once the files are deleted, only their ids are left to compare.
 */
export function requestHash(request: TimedSend, media: readonly StoredMedia[]): string {
  const byContent = hashOf(request, media.map(contentOf))
  return media.length === 0 ? byContent : `${byContent}.${hashById(request)}`
}

/** Whether two hashes are of the same message. */
export const isSameRequest = (one: string | null, other: string | null): boolean =>
  one?.split('.', 1)[0] === other?.split('.', 1)[0]

/** Whether a hash is of this send, whose files may be gone: with the same ids, in the same order. */
export const isOfRequest = (hash: string, request: TimedSend): boolean => hash.split('.')[1] === hashById(request)

const contentOf = ({ sha256, contentType, fileName }: StoredMedia): unknown[] => [sha256, contentType, fileName]

const hashById = (request: TimedSend): string => hashOf(request, request.mediaIds as readonly string[])

/**
 * Each field's part of the hash, so that a repeated key with a different value is a conflict. A newer field adds nothing if it is absent, so
 * requests without it keep the hashes of earlier releases.
 */
const HASHED: Record<keyof SendBody, (request: TimedSend, files: readonly unknown[]) => unknown[]> = {
  to: ({ to }) => [to],
  from: ({ from }) => [from],
  body: ({ body }) => [body],
  userId: ({ userId }) => [userId],
  sendAt: ({ sendAt }) => (sendAt === null ? [] : [sendAt]),
  mediaIds: (_, files) => (files.length === 0 ? [] : [files]),
}

const hashOf = (request: TimedSend, files: readonly unknown[]): string =>
  sha256Hex(JSON.stringify(Object.values(HASHED).flatMap((hashed) => hashed(request, files))))
