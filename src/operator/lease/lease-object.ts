import { z } from 'zod'
import { EXIT, StartError } from '../../core/start-error.ts'
import { type Condition, type ObjectStore, StoreError, type StoredText, parsed } from './object-store.ts'

/** The object that says which of several gateways is active. */
export const LEASE_KEY = 'lease.json'

/** What a gateway says about itself, as holder and as standby. Release 1.1.0 omits some of it. */
export const Identity = z.object({
  /** The machine and the port. */
  holder: z.string(),
  /** PUBLIC_URL. */
  url: z.string(),
  /** The newest migration of its database. */
  schema: z.string().default(''),
  /** A hash of RC_CLIENT_ID, and the retentions, which should be the same everywhere. */
  clientId: z.string().default(''),
  retention: z.string().default(''),
})

/** The content of the object. A release empties `holder` and keeps the rest. */
const LeaseContent = Identity.extend({
  epoch: z.int().positive(),
  /** The id of the newest key of ENCRYPTION_KEYS; not secret. */
  keyId: z.string(),
  /** The newest epoch that has a copy. Release 1.1.0 did not say. */
  copied: z.int().nonnegative().default(0),
  /**
   * Whether messages that wait in the copies may have been sent, because nobody had renewed the lease for a minute. Only until the epoch has a
   * copy, which stores this.
   */
  mayBeSent: z.boolean().default(false),
})
export type LeaseContent = z.infer<typeof LeaseContent>

/** Equal texts have equal ETags, so each renewal has its own nonce to be visible. */
const WrittenLease = LeaseContent.extend({ nonce: z.string().min(1) })
type WrittenLease = z.infer<typeof WrittenLease>

export interface SeenLease extends Omit<StoredText, 'text'> {
  content: WrittenLease
}

/** Retries for a write that was lost on its way, or that an earlier one of the same gateway overtook. */
const MAX_TRIES = 3

/** The object that says which gateway is active. A write replaces only the version that was read before. */
export class LeaseObject {
  /** The number of the newest nonce of this process that the storage has acknowledged. */
  #written = 0
  #tried = 0

  constructor(
    readonly store: ObjectStore,
    /** Begins each nonce of this process. */
    readonly writer: string = crypto.randomUUID(),
  ) {}

  /**
   * Null if there is none. Errors: `StoreError`; `StartError`, 78 if it is not a lease, 75 if the storage twice returns a version that this
   * process has replaced: reads lag, or somebody has put an older object back.
   */
  async read(): Promise<SeenLease | null> {
    const newest = this.#written
    const seen = await this.#readOnce()
    if (!this.#isReplaced(seen, newest)) return seen
    const again = await this.#readOnce()
    if (this.#isReplaced(again, newest)) throw new StartError(EXIT.locked, PUT_BACK)
    return again
  }

  #isReplaced(seen: SeenLease | null, newest: number): boolean {
    return seen !== null && this.isOwn(seen) && numberOf(seen.content.nonce) < newest
  }

  async #readOnce(): Promise<SeenLease | null> {
    const found = await this.store.get(LEASE_KEY)
    if (found === null) return null
    const { text, ...stored } = found
    const content = parsed(text, WrittenLease)
    if (content === null) throw new StartError(EXIT.badConfig, NO_LEASE)
    return { content, ...stored }
  }

  get written(): number {
    return this.#written
  }

  /**
   * Why this process no longer holds the lease; null if it does. Called after an upload: a later holder raises the epoch before it reads the
   * copy, so if the epoch is unchanged now, any later holder will have the upload. No clock is involved. The writer is also compared: a storage
   * whose conditions are not atomic may give one epoch to two gateways. Errors: as `read`.
   */
  async whyLost(epoch: number): Promise<string | null> {
    const seen = await this.read()
    if (seen === null) return 'the lease object is gone'
    const { holder, epoch: newest } = seen.content
    if (this.isOwn(seen) && newest === epoch) return null
    return holder === '' ? `epoch ${newest} has begun` : `${holder} has taken it with epoch ${newest}`
  }

  /** Whether this process has written it. */
  isOwn = (seen: SeenLease): boolean => writerOf(seen) === this.writer

  /**
   * Writes the object over the version with this ETag, or where there is none (null). Returns the ETag, or null if another process has written
   * in the meantime. Errors: `StoreError`, after which it may or may not be written.
   */
  async write(content: LeaseContent, over: string | null): Promise<string | null> {
    let etag = over
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const number = ++this.#tried
      const nonce = `${this.writer}.${number}.${crypto.randomUUID()}`
      const written = await this.#put({ ...content, nonce }, etag === null ? 'nothing' : { etag })
      if (written !== null) return this.#note(number, written)
      const seen = await this.read()
      const isLost = (seen?.etag ?? null) === etag
      if (isLost) continue
      if (seen === null || !this.isOwn(seen)) return null
      if (seen.content.nonce === nonce) return this.#note(number, seen.etag)
      etag = seen.etag
    }
    return null
  }

  /** Call it when another thread has written in the name of this process. */
  noteWritten(number: number): void {
    this.#tried = Math.max(this.#tried, number)
    this.#written = Math.max(this.#written, number)
  }

  #note(number: number, etag: string): string {
    this.noteWritten(number)
    return etag
  }

  /** If the answer was lost, a read shows the result. */
  async #put(content: WrittenLease, condition: Condition): Promise<string | null> {
    try {
      return (await this.store.put(LEASE_KEY, JSON.stringify(content), condition)) || null
    } catch (error) {
      if (error instanceof StoreError && !error.isRefusal) return null
      throw error
    }
  }
}

const NO_LEASE = `The object ${LEASE_KEY} beside the backup is not the lease of a gateway: find out what wrote it; if no gateway runs, delete it, and the next start makes a new one (docs/beyond-one-machine.md)`

const PUT_BACK = `the object storage returned an older version of ${LEASE_KEY}: its reads lag behind its writes, or somebody has put the object back`

/** Names the process that has written it. */
export const writerOf = ({ content: { nonce } }: SeenLease): string => nonce.split('.')[0] ?? ''

/** Nonces of release 1.1.0 have none. */
const numberOf = (nonce: string): number => Number(/\.(\d+)\./.exec(nonce)?.[1] ?? Number.NaN)
