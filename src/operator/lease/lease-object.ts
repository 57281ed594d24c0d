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
})
export type LeaseContent = z.infer<typeof LeaseContent>

export interface SeenLease {
  content: LeaseContent
  etag: string
  /** Epoch milliseconds, by the storage's clock. */
  storedAt: number
}

/** A write that was overtaken by an earlier one of the same gateway is tried again. */
const MAX_TRIES = 3

/** The object that says which gateway works. Written only over the version that was seen before. */
export class LeaseObject {
  constructor(
    readonly store: ObjectStore,
    /** Begins each nonce of this process. */
    readonly writer: string = crypto.randomUUID(),
  ) {}

  /** Null if there is none. Errors: `StoreError`; `StartError` 78 if it is no lease. */
  async read(): Promise<SeenLease | null> {
    const found = await this.store.get(LEASE_KEY)
    if (found === null) return null
    const content = contentOf(found.text)
    if (content === null) throw new StartError(EXIT.badConfig, NO_LEASE)
    return { content, etag: found.etag, storedAt: found.storedAt }
  }

  /** Whether this process has written it. */
  isOwn = ({ content }: SeenLease): boolean => content.nonce.startsWith(`${this.writer}.`)

  /**
   * Writes the object over the version with this ETag, or where there is none (null). Returns the ETag, or null if another process has
   * written meanwhile. Errors: `StoreError`, after which it may or may not be written.
   */
  async write(content: Omit<LeaseContent, 'nonce'>, over: string | null): Promise<string | null> {
    let etag = over
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      // Equal texts would have equal ETags, and a standby could not see that the lease was renewed.
      const nonce = `${this.writer}.${crypto.randomUUID()}`
      const written = await this.#put({ ...content, nonce }, etag === null ? 'nothing' : { etag })
      if (written !== null) return written
      const seen = await this.read()
      if (seen === null || !this.isOwn(seen)) return null
      if (seen.content.nonce === nonce) return seen.etag
      etag = seen.etag
    }
    return null
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

function contentOf(text: string): LeaseContent | null {
  try {
    return LeaseContent.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
