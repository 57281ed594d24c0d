import { z } from 'zod'
import { EXIT, StartError } from '../../core/start-error.ts'
import { LEASE_KEY } from '../backup/storage.ts'
import { type Condition, type ObjectStore, StoreError } from './object-store.ts'

/** What the object says. A release empties `holder` and keeps the rest. */
const LeaseContent = z.object({
  epoch: z.int().positive(),
  holder: z.string(),
  /** PUBLIC_URL of the holder. */
  url: z.string(),
  nonce: z.string().min(1),
  /** The id of the newest key of ENCRYPTION_KEYS; not secret. */
  keyId: z.string(),
  /** The newest migration of the holder's database. */
  schema: z.string(),
  /** The newest epoch that has a copy. Release 1.1.0 did not say. */
  copied: z.int().nonnegative().default(0),
  /** A hash of RC_CLIENT_ID, and the retentions, which a standby should have as well. */
  clientId: z.string().default(''),
  retention: z.string().default(''),
  /** Whether what waits in the copies may have been sent, because nobody had renewed the lease for a minute. Until the epoch has a copy, which knows it. */
  mayBeSent: z.boolean().default(false),
})
export type LeaseContent = z.infer<typeof LeaseContent>

export interface SeenLease {
  content: LeaseContent
  etag: string
  /** Epoch milliseconds, by the storage's clock. */
  storedAt: number
  /** Since it was written, by the storage's clock. `Infinity` if the storage does not say. */
  ageMs: number
}

/** A write that was overtaken by an earlier one of the same gateway is tried again. */
const MAX_TRIES = 3

/** The object that says which gateway works. Written only over the version that was seen before. */
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
   * Null if there is none. Errors: `StoreError`; `StartError`, 78 if it is no lease, 75 if the storage answers twice with a version that this
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
    const content = contentOf(found.text)
    if (content === null) throw new StartError(EXIT.badConfig, NO_LEASE)
    const { etag, storedAt, ageMs } = found
    return { content, etag, storedAt, ageMs }
  }

  get written(): number {
    return this.#written
  }

  /**
   * Why the lease is not this process's any more; null if it is. Asked after an upload returned: a later holder raises the epoch before it
   * reads the copy, so if the epoch is still the own one now, the later holder will have the upload. No clock decides. The writer is compared
   * as well: a storage whose conditions are not atomic may give one epoch to two. Errors: as `read`.
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
   * Writes the object over the version with this ETag, or where there is none (null). Returns the ETag, or null if another process has
   * written meanwhile. Errors: `StoreError`, after which it may or may not be written.
   */
  async write(content: Omit<LeaseContent, 'nonce'>, over: string | null): Promise<string | null> {
    let etag = over
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      // Equal texts would have equal ETags, and a standby could not see that the lease was renewed.
      const number = ++this.#tried
      const nonce = `${this.writer}.${number}.${crypto.randomUUID()}`
      const written = await this.#put({ ...content, nonce }, etag === null ? 'nothing' : { etag })
      if (written !== null) return this.#note(number, written)
      const seen = await this.read()
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

  /** A lost answer is found out by reading. */
  async #put(content: LeaseContent, condition: Condition): Promise<string | null> {
    try {
      return (await this.store.put(LEASE_KEY, JSON.stringify(content), condition)) || null
    } catch (error) {
      if (error instanceof StoreError && !error.isRefusal) return null
      throw error
    }
  }
}

const NO_LEASE = `The object ${LEASE_KEY} beside the backup is no lease of a gateway: look at what has written it; if no gateway runs, delete it, and the next start makes a new one (docs/beyond-one-machine.md)`

const PUT_BACK = `the storage answers with an older version of ${LEASE_KEY}: its reads lag behind its writes, or somebody has put the object back`

/** Names the process that has written it. */
export const writerOf = ({ content: { nonce } }: SeenLease): string => nonce.split('.')[0] ?? ''

/** Nonces of release 1.1.0 have none. */
const numberOf = (nonce: string): number => Number(/\.(\d+)\./.exec(nonce)?.[1] ?? Number.NaN)

function contentOf(text: string): LeaseContent | null {
  try {
    return LeaseContent.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
