import { MEDIA_RETENTION_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'

/** Media that can be seen. */
export interface StoredMedia {
  mediaId: string
  contentType: string
  /** Bytes. */
  size: number
  fileName: string | null
  sha256: string
  /** Epoch milliseconds. Moves along with the current time while a message with this media waits. */
  expiresAt: number
}

export const storedMedia = (row: Row): StoredMedia => ({
  mediaId: String(row['id']),
  contentType: String(row['content_type']),
  size: Number(row['size']),
  fileName: row['file_name'] === '' ? null : String(row['file_name']),
  sha256: String(row['sha256']),
  expiresAt: Number(row['expires_at']),
})

/** SQL: whether a message that has not ended carries the media. */
const IS_NEEDED = `EXISTS (SELECT 1 FROM media_uses AS waiting CROSS JOIN messages AS carrier ON carrier.id = waiting.message_id
  WHERE waiting.media_id = media.id AND carrier.status IN ('queued', 'sending'))`

/** SQL: the time until which media is kept. `now` is SQL, too. */
const expiresAt = (now: string): string => `(max(media.uploaded_at, coalesce((
    SELECT max(iif(carrier.status IN ('queued', 'sending'), ${now}, carrier.updated_at)) FROM media_uses AS used
    CROSS JOIN messages AS carrier ON carrier.id = used.message_id WHERE used.media_id = media.id), 0)) + ${MEDIA_RETENTION_MS})`

const columns = (now: string): string => `id, content_type, size, file_name, sha256, ${expiresAt(now)} AS expires_at`

/** SQL: whether media can be sent. Expired ones are hidden before they are deleted. */
export const isKept = (now: string): string => `(media.sha256 IS NOT NULL AND ${expiresAt(now)} > ${now})`

/** Media of a tenant by their ids (JSON), in any order. */
export const FIND = `SELECT ${columns('?3')} FROM media WHERE id IN (SELECT value FROM json_each(?1)) AND tenant_id = ?2
  AND ${isKept('?3')}`

export const RENEW = `UPDATE media SET uploaded_at = max(uploaded_at, ?1)
  WHERE tenant_id = ?2 AND sha256 = ?3 AND content_type = ?4 AND file_name = ?5 RETURNING ${columns('?1')}`

export const USED_BYTES = 'SELECT coalesce(sum(size), 0) AS used FROM media'

/** Stores an invisible row, if there is room for its bytes. */
export const INSERT = `INSERT INTO media (id, tenant_id, content_type, file_name, size, uploaded_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (${USED_BYTES}) + ?5 <= ?7 AND (${USED_BYTES} WHERE tenant_id = ?2) + ?5 <= ?8 RETURNING id`

export const INSERT_PIECE = 'INSERT INTO media_pieces (media_id, position, bytes) VALUES (?1, ?2, ?3)'

export const SHOW = `UPDATE media SET sha256 = ?2, uploaded_at = ?3 WHERE id = ?1 AND tenant_id = ?4 RETURNING ${columns('?3')}`

export const DELETE_ONE = `DELETE FROM media WHERE id = ?1 AND tenant_id = ?2 AND sha256 IS NOT NULL AND NOT ${IS_NEEDED}`

/** Deletes the media of a list (JSON) that no message still carries. */
export const DELETE_UNUSED = `DELETE FROM media WHERE id IN (SELECT value FROM json_each(?1))
  AND NOT EXISTS (SELECT 1 FROM media_uses WHERE media_id = media.id)`

/** Each has up to 1.5 MB, which are overwritten: more at a time would make a long commit. */
const DELETED_AT_ONCE = 4

/** Deletes some expired media. */
export const DELETE_EXPIRED = `DELETE FROM media WHERE id IN (SELECT media.id FROM media INDEXED BY media_by_age
  WHERE media.uploaded_at <= ?1 - ${MEDIA_RETENTION_MS} AND ${expiresAt('?1')} <= ?1 LIMIT ${DELETED_AT_ONCE})`

/** Deletes some media whose upload began before a time and has not finished. */
export const DELETE_BROKEN = `DELETE FROM media WHERE id IN (SELECT media.id FROM media INDEXED BY media_unfinished
  WHERE media.sha256 IS NULL AND media.uploaded_at <= ?1 LIMIT ${DELETED_AT_ONCE})`
