import type { z } from 'zod'
import { codeOf } from '../../core/error-code.ts'
import type { Log } from '../../core/log.ts'
import { directIfLocal } from '../../core/proxy.ts'
import { bucketOf } from '../backup/bucket.ts'
import type { BackupSettings } from '../backup/settings.ts'

// Small objects with conditional writes. Source: Amazon S3 API Reference, GetObject, PutObject ("Conditional writes") and ListObjectsV2.

export interface StoredText {
  text: string
  /** Differs for each text. */
  etag: string
  /** When it was stored, by the storage's clock, epoch milliseconds. */
  storedAt: number
  /** For how long it has been stored, by the storage's clock. `Infinity` if the storage does not say. */
  ageMs: number
}

export interface ListedObject {
  /** Below the prefix of the backup. */
  key: string
  storedAt: number
}

/** The storage did not do what it was asked. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  constructor(
    message: string,
    /** Whether repeating is useless: for a wrong key, bucket or region. */
    readonly isRefusal = false,
  ) {
    super(message)
  }
}

/** What must be there for a write to happen: nothing, the object with this ETag, or anything. */
export type Condition = 'nothing' | { etag: string } | 'anything'

/** A request takes a few milliseconds. Several must be possible while a lease lasts. */
const REQUEST_MS = 2000
/** Longer than any request waits, even if this machine's clock is behind. */
const SIGNED_FOR_SECONDS = 900
/** How often a read without an answer is made; with patience, even more often. */
const READ_TRIES = 3
const READ_AGAIN_MS = 100

/** For a process that can do nothing else until the storage answers. */
export interface Patience {
  /** Monotonic time until which reads are repeated. */
  until: number
  log: Log
}

/** The objects beside the backup. `Bun.S3Client` knows no conditions, so it only signs addresses. Errors: `StoreError`. */
export class ObjectStore {
  readonly #client: Bun.S3Client
  readonly #prefix: string
  /** How far the storage's clock is ahead of this machine's, by its last answer. */
  aheadMs = 0

  constructor(
    settings: BackupSettings,
    readonly patience: Patience | null = null,
  ) {
    const { client, prefix } = bucketOf(settings)
    this.#client = client
    this.#prefix = prefix === '' ? '' : `${prefix}/`
  }

  /** Null if there is none. */
  get(key: string): Promise<StoredText | null> {
    return this.#readAgain(async () => {
      const response = await this.#request('GET', key)
      const text = await readText(response)
      if (response.status === 404 && text.includes('<Code>NoSuchKey</Code>')) return null
      if (!response.ok) throw this.#refusalOf('GET', response, text)
      const [storedAt, now] = [dateIn(response, 'last-modified'), dateIn(response, 'date')]
      const ageMs = storedAt > 0 && now > 0 ? now - storedAt : Infinity
      return { text, etag: response.headers.get('etag') ?? '', storedAt, ageMs }
    })
  }

  /** Returns the ETag, or null if the condition does not hold. After an error it is unknown whether the object was written. */
  async put(key: string, text: string, condition: Condition): Promise<string | null> {
    const response = await this.#request('PUT', key, text, headersOf(condition))
    const answer = await readText(response)
    // 409: another conditional write was in progress. 404: the object is gone.
    const isRefused = [404, 409, 412].includes(response.status) && !answer.includes('<Code>NoSuchBucket</Code>')
    if (isRefused && condition !== 'anything') return null
    if (!response.ok) throw this.#refusalOf('PUT', response, answer)
    return response.headers.get('etag') ?? ''
  }

  async delete(key: string): Promise<void> {
    const response = await this.#request('DELETE', key)
    const answer = await readText(response)
    if (!response.ok && response.status !== 404) throw this.#refusalOf('DELETE', response, answer)
  }

  /** All objects whose key begins with the prefix. */
  async list(start: string): Promise<ListedObject[]> {
    const found: ListedObject[] = []
    for await (const { contents = [] } of this.#pages({ prefix: this.#prefix + start }))
      for (const { key, lastModified } of contents)
        found.push({ key: key.slice(this.#prefix.length), storedAt: Date.parse(lastModified ?? '') || 0 })
    return found
  }

  /** The folders, without the slash, whose names begin with the prefix. */
  async folders(start: string): Promise<string[]> {
    const found: string[] = []
    for await (const { commonPrefixes = [] } of this.#pages({ prefix: this.#prefix + start, delimiter: '/' }))
      for (const { prefix } of commonPrefixes) found.push(prefix.slice(this.#prefix.length, -1))
    return found
  }

  async *#pages(query: Bun.S3ListObjectsOptions): AsyncGenerator<Bun.S3ListObjectsResponse> {
    for (let token: string | undefined, isMore = true; isMore;) {
      const asked = token === undefined ? query : { ...query, continuationToken: token }
      const page = await this.#readAgain(() => this.#client.list(asked).catch(failed))
      yield page
      token = page.nextContinuationToken
      isMore = page.isTruncated === true && token !== undefined
    }
  }

  /** If this machine's clock is wrong, the storage refuses requests that it will perform once the clock is right. */
  #refusalOf(method: string, { status }: Response, body: string): StoreError {
    const code = /<Code>(\w+)<\/Code>/.exec(body)?.[1]
    const clock = describeClock(this)
    const isRefusal = REFUSALS.includes(status) && code !== 'RequestTimeTooSkewed' && clock === null
    const answer = `the object storage answers ${status}${code === undefined ? '' : ` ${code}`} to a ${method}`
    return new StoreError(clock === null ? answer : `${answer}, because ${clock}`, isRefusal)
  }

  async #readAgain<T>(read: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await read()
      } catch (error) {
        if (!(error instanceof StoreError) || error.isRefusal) throw error
        const isPatient = this.patience !== null && performance.now() < this.patience.until
        if (tries >= READ_TRIES && !isPatient) throw error
        if (tries === READ_TRIES)
          this.patience?.log.warn({ reason: error.message }, 'the object storage cannot be read, trying again')
        await Bun.sleep(READ_AGAIN_MS)
      }
    }
  }

  async #request(
    method: 'GET' | 'PUT' | 'DELETE',
    key: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    try {
      const url = this.#client.presign(this.#prefix + key, { method, expiresIn: SIGNED_FOR_SECONDS })
      const signal = AbortSignal.timeout(REQUEST_MS)
      const init = { method, headers, signal, ...directIfLocal(url) }
      const response = await fetch(url, body === undefined ? init : { ...init, body })
      const date = dateIn(response, 'date')
      if (date > 0) this.aheadMs = date - Date.now()
      return response
    } catch (error) {
      return failed(error)
    }
  }
}

/** The lease needs times that both clocks agree on. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000

/** What is wrong with this machine's clock, and what to do; null if it agrees with the storage's. */
export function describeClock(store: Pick<ObjectStore, 'aheadMs'>): string | null {
  const difference = clockDifference(store)
  return difference === null ? null : `this machine's clock is ${difference}: set it (NTP)`
}

/** Such as `70 s behind the storage's`; null if they agree. */
export function clockDifference({ aheadMs }: Pick<ObjectStore, 'aheadMs'>): string | null {
  if (Math.abs(aheadMs) <= MAX_CLOCK_DIFFERENCE_MS) return null
  return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the storage's`
}

/** The value in a stored text; null if it is not one of these. */
export function parsed<T>(text: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

const headersOf = (condition: Condition): Record<string, string> =>
  condition === 'anything' ? {} : condition === 'nothing' ? { 'if-none-match': '*' } : { 'if-match': condition.etag }

const readText = (response: Response): Promise<string> => response.text().catch(failed)

const dateIn = (response: Response, header: string): number => Date.parse(response.headers.get(header) ?? '') || 0

/** The storage's answer to a request that can never succeed. */
const REFUSALS = [301, 307, 400, 401, 403, 404]

function failed(error: unknown): never {
  const isRefusal =
    /^(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|NoSuchBucket|Authorization.*|ERR_S3_MISSING_CREDENTIALS)$/
  const code = codeOf(error)
  if (code !== null && isRefusal.test(code)) throw new StoreError(`the object storage refuses (${code})`, true)
  const what = error instanceof Error && error.name === 'TimeoutError' ? 'no answer' : (code ?? 'no connection')
  throw new StoreError(`the object storage cannot be reached (${what})`)
}
