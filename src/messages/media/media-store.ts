import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import { apiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { Limiter } from '../../core/limiter.ts'
import {
  MAX_TENANT_MEDIA_BYTES,
  MAX_UPLOADS_IN_FLIGHT,
  MAX_UPLOADS_PER_TENANT,
  MEDIA_PIECE_BYTES,
  UPLOAD_MIN_FREE_BYTES,
} from '../../core/limits.ts'
import type { MediaType } from '../../core/media-types.ts'
import type { Database } from '../../db/database.ts'
import { isConstraint } from '../../db/gate.ts'
import type { SpoolFile } from '../../db/spool-file.ts'
import { freeBytes } from '../../db/storage-check.ts'
import { type StoredMedia, INSERT, INSERT_PIECE, RENEW, SHOW, USED_BYTES, storedMedia } from './media-rows.ts'

/** A file that was read and checked. */
export interface Upload {
  tenantId: string
  contentType: MediaType
  /** Empty if the client named none. */
  fileName: string
}

interface MediaContext {
  config: Config
  clock: Clock
  ids: Ids
  database: Database
}

/** Stores and deletes media, one write at a time, each in its own commit, so a send waits for one piece at most. */
export class MediaStore {
  /** Limits uploads that are being read or stored. */
  readonly slots = new Limiter({ total: MAX_UPLOADS_IN_FLIGHT, perTenant: MAX_UPLOADS_PER_TENANT })
  #last: Promise<unknown> = Promise.resolve()

  constructor(readonly context: MediaContext) {}

  /** Whether anything may be uploaded. */
  get isOn(): boolean {
    return this.context.config.mediaLimitBytes > 0
  }

  /** Errors: `storageUnavailable`. */
  refuseFullDisk(): void {
    const { path } = this.context.config.database
    if (path !== null && freeBytes(path) < UPLOAD_MIN_FREE_BYTES) throw apiError('storageUnavailable')
  }

  /** Stores a file, unless the tenant has it already: then it is kept longer. Errors: `mediaFull`, `tenantMediaFull`. */
  async store(upload: Upload, file: SpoolFile): Promise<{ media: StoredMedia; isNew: boolean }> {
    const piece = new Uint8Array(MEDIA_PIECE_BYTES)
    const sha256 = hashOf(file, piece)
    const known = await this.#renew(upload, sha256)
    if (known !== null) return { media: known, isNew: false }
    const id = await this.#reserve(upload, file.size)
    try {
      for (let position = 0; position * MEDIA_PIECE_BYTES < file.size; position++)
        await this.#inTurn(() => this.#insertPiece(id, position, file.read(position * MEDIA_PIECE_BYTES, piece)))
      return { media: await this.#show(id, sha256, upload.tenantId), isNew: true }
    } catch (error) {
      await this.delete('DELETE FROM media WHERE id = ?1 AND tenant_id = ?2 AND sha256 IS NULL', [
        id,
        upload.tenantId,
      ]).catch(() => undefined)
      const same = isConstraint(error) ? await this.#renew(upload, sha256) : null
      if (same === null) throw error
      return { media: same, isNew: false }
    }
  }

  /** Deletes media with this statement, and returns its rows. Overwrites their bytes in the file. */
  delete(sql: string, args: (string | number)[]): Promise<readonly unknown[]> {
    const { gate, writer } = this.context.database
    return this.#inTurn(async () => {
      await gate.execute('PRAGMA secure_delete = ON')
      try {
        const [deleted] = await writer.alone([{ sql: `${sql} RETURNING id`, args }])
        return deleted?.rows ?? []
      } finally {
        await gate.execute('PRAGMA secure_delete = OFF')
      }
    })
  }

  /** The media with these bytes, type and name, if the tenant has it; null if not. */
  async #renew({ tenantId, contentType, fileName }: Upload, sha256: string): Promise<StoredMedia | null> {
    const args = [this.context.clock.now(), tenantId, sha256, contentType, fileName]
    const [row] = await this.#write(RENEW, args)
    return row === undefined ? null : storedMedia(row)
  }

  /** Reserves the space of a file. Nobody can see its row yet. */
  async #reserve({ tenantId, contentType, fileName }: Upload, size: number): Promise<string> {
    const { config, clock, ids, database } = this.context
    const id = ids.media()
    const limits = [config.mediaLimitBytes, MAX_TENANT_MEDIA_BYTES]
    const inserted = await this.#write(INSERT, [id, tenantId, contentType, fileName, size, clock.now(), ...limits])
    if (inserted.length > 0) return id
    const { rows } = await database.gate.execute(USED_BYTES)
    const isFull = Number(rows[0]?.['used'] ?? 0) + size > config.mediaLimitBytes
    throw apiError(isFull ? 'mediaFull' : 'tenantMediaFull')
  }

  async #insertPiece(id: string, position: number, bytes: Uint8Array): Promise<void> {
    await this.context.database.writer.alone([{ sql: INSERT_PIECE, args: [id, position, bytes] }])
  }

  /** Makes a file visible after all its pieces are stored. */
  async #show(id: string, sha256: string, tenantId: string): Promise<StoredMedia> {
    const [row] = await this.#write(SHOW, [id, sha256, this.context.clock.now(), tenantId])
    if (row === undefined) throw new Error('An upload was purged while it was stored')
    return storedMedia(row)
  }

  #write(sql: string, args: (string | number)[]) {
    return this.#inTurn(async () => {
      const [result] = await this.context.database.writer.alone([{ sql, args }])
      return result?.rows ?? []
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

function hashOf(file: SpoolFile, piece: Uint8Array): string {
  const hash = new Bun.CryptoHasher('sha256')
  for (let position = 0; position < file.size; position += piece.length) hash.update(file.read(position, piece))
  return hash.digest('hex')
}
