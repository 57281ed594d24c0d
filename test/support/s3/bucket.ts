import { createHash } from 'node:crypto'
import { S3Error } from './errors.ts'

export interface StoredObject {
  body: Uint8Array
  /** With its quotation marks. */
  etag: string
  /** Whole seconds, as Amazon keeps them. */
  modifiedAt: Date
  /** Epoch milliseconds. */
  storedAt: number
}

export interface ListQuery {
  prefix: string
  /** Keys with the same beginning up to the delimiter are listed once. It may be empty. */
  delimiter: string
  /** The listing starts after this name. */
  after: string
  limit: number
  /** Objects that were stored later, epoch milliseconds, are not listed yet. */
  storedUntil?: number
}

export interface Listed {
  keys: string[]
  commonPrefixes: string[]
  /** The last name of this page, or null on the last page. */
  next: string | null
}

/** What must hold for a PUT. A header that is absent is null. Source: Amazon S3 User Guide, "Conditional requests". */
export interface PutConditions {
  /** `If-Match`: the ETag of the object that is replaced. */
  ifMatch: string | null
  /** `If-None-Match`. Amazon knows only `*`: no object has the key. */
  ifNoneMatch: string | null
}

/** One bucket, in memory. Requests are performed one after the other, so that each sees the writes before it. */
export class Bucket {
  readonly #objects = new Map<string, StoredObject>()
  readonly #uploads = new Map<string, Map<number, Uint8Array>>()

  get keys(): string[] {
    return [...this.#objects.keys()].toSorted()
  }

  put(key: string, body: Uint8Array, etag = md5(body).toString('hex')): StoredObject {
    const storedAt = Date.now()
    const modifiedAt = new Date(Math.floor(storedAt / 1000) * 1000)
    const stored = { body, etag: `"${etag}"`, modifiedAt, storedAt }
    this.#objects.set(key, stored)
    return stored
  }

  /** Errors: PreconditionFailed, NoSuchKey (`If-Match` without an object), NotImplemented. */
  putIf({ ifMatch, ifNoneMatch }: PutConditions, key: string, body: Uint8Array): StoredObject {
    if (ifNoneMatch !== null && ifNoneMatch !== '*') throw new S3Error('NotImplemented')
    if (ifNoneMatch !== null && this.#objects.has(key)) throw new S3Error('PreconditionFailed')
    if (ifMatch !== null && this.get(key).etag !== ifMatch) throw new S3Error('PreconditionFailed')
    return this.put(key, body)
  }

  /** Errors: NoSuchKey. */
  get(key: string): StoredObject {
    const stored = this.#objects.get(key)
    if (stored === undefined) throw new S3Error('NoSuchKey')
    return stored
  }

  delete(key: string): void {
    this.#objects.delete(key)
  }

  clear(): void {
    this.#objects.clear()
    this.#uploads.clear()
  }

  /** Lists names in order. Keys with the same beginning up to the delimiter count as one name. */
  list({ prefix, delimiter, after, limit, storedUntil = Infinity }: ListQuery): Listed {
    const nameOf = (key: string): string => {
      const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
      return end < 0 ? key : key.slice(0, end + delimiter.length)
    }
    const isListed = (key: string): boolean => (this.#objects.get(key)?.storedAt ?? 0) <= storedUntil
    const matching = this.keys.filter((key) => key.startsWith(prefix) && isListed(key))
    const names = [...new Set(matching.map(nameOf))].filter((name) => name > after)
    const page = names.slice(0, limit)
    return {
      keys: page.filter((name) => nameOf(name) === name && this.#objects.has(name)),
      commonPrefixes: page.filter((name) => delimiter !== '' && name.endsWith(delimiter) && name !== prefix),
      next: names.length > limit ? (page.at(-1) ?? null) : null,
    }
  }

  /** Returns the upload's id. */
  beginUpload(): string {
    const id = crypto.randomUUID()
    this.#uploads.set(id, new Map())
    return id
  }

  /** Returns the part's ETag. Errors: NoSuchUpload. */
  putPart(id: string, number: number, body: Uint8Array): string {
    this.#upload(id).set(number, body)
    return `"${md5(body).toString('hex')}"`
  }

  /** Errors: NoSuchUpload, InvalidPart. */
  completeUpload(id: string, key: string, numbers: readonly number[]): StoredObject {
    const upload = this.#upload(id)
    const parts = numbers.map((number) => {
      const part = upload.get(number)
      if (part === undefined) throw new S3Error('InvalidPart')
      return part
    })
    this.#uploads.delete(id)
    const etag = `${md5(Buffer.concat(parts.map(md5))).toString('hex')}-${parts.length}`
    return this.put(key, Buffer.concat(parts), etag)
  }

  abortUpload(id: string): void {
    this.#uploads.delete(id)
  }

  #upload(id: string): Map<number, Uint8Array> {
    const upload = this.#uploads.get(id)
    if (upload === undefined) throw new S3Error('NoSuchUpload')
    return upload
  }
}

export const md5 = (body: Uint8Array): Buffer => createHash('md5').update(body).digest()
