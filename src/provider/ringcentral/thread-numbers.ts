import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { bounded } from '../../core/bounded.ts'
import { BACK_FILL_MAX_AGE_MS, DAY_MS } from '../../core/limits.ts'
import type { ProviderResult } from '../provider.ts'
import { listAll } from './pages.ts'
import type { Requester } from './request.ts'
import { optionalNumber, wireId } from './wire-text.ts'

export const THREADS_PATH = '/restapi/v1.0/account/~/message-threads'

/** The two numbers of a thread, which never change. */
export interface Numbers {
  /** The tenant's number. */
  number: string
  contact: string
}

const MAX_KNOWN_THREADS = 10_000
/** Up to this many threads are read one by one, more by a list, in one call each. */
const MAX_SINGLE_READS = 1

/** The numbers of threads: a message only names its thread. Each thread is read once. */
export class ThreadNumbers {
  /** Null: the thread is deleted, or the user may not read it. */
  readonly #known = new LRUCache<string, { numbers: Numbers | null }>(bounded(MAX_KNOWN_THREADS))

  constructor(readonly requester: Requester) {}

  /** Null if they are unknown. Call `learn` first. */
  of(threadId: string): Numbers | null {
    return this.#known.get(threadId)?.numbers ?? null
  }

  /** Reads the threads that are not known yet. */
  async learn(accessToken: string, threadIds: ReadonlySet<string>): Promise<ProviderResult<void>> {
    const unknown = (): string[] => [...threadIds].filter((id) => !this.#known.has(id))
    if (unknown().length > MAX_SINGLE_READS) {
      const listed = await this.#list(accessToken)
      if (!listed.ok) return listed
    }
    for (const id of unknown()) {
      const read = await this.#read(accessToken, id)
      if (!read.ok) return read
    }
    return { ok: true, value: undefined }
  }

  /** `GET …/message-threads`. */
  async #list(accessToken: string): Promise<ProviderResult<void>> {
    const now = this.requester.lag.now()
    const list = { path: THREADS_PATH, query: between(now - BACK_FILL_MAX_AGE_MS, now + DAY_MS) }
    const listed = await listAll(this.requester, accessToken, list, threadSchema)
    if (!listed.ok) return listed
    for (const { id, numbers } of listed.value) if (id !== undefined) this.#known.set(id, { numbers })
    return { ok: true, value: undefined }
  }

  /** `GET …/message-threads/{threadId}`. */
  async #read(accessToken: string, id: string): Promise<ProviderResult<void>> {
    const path = `${THREADS_PATH}/${encodeURIComponent(id)}`
    const read = await this.requester.read({ method: 'GET', path, as: { accessToken } }, threadSchema)
    if (!read.ok && !isGone(read)) return read
    this.#known.set(id, { numbers: read.ok ? read.value.numbers : null })
    return { ok: true, value: undefined }
  }
}

const isGone = ({ failure }: Extract<ProviderResult<unknown>, { ok: false }>): boolean =>
  failure.reason === 'rejected' && (failure.status === 403 || failure.status === 404)

/** The provider requires both ends of a period. */
export const between = (since: number, until: number): Record<string, string> => ({
  creationTimeFrom: new Date(since).toISOString(),
  creationTimeTo: new Date(until).toISOString(),
})

const partySchema = z.looseObject({ phoneNumber: optionalNumber }).optional().catch(undefined)

/** `MessageThread`. */
const threadSchema = z
  .looseObject({ id: wireId.optional().catch(undefined), ownerParty: partySchema, guestParty: partySchema })
  .transform(({ id, ownerParty, guestParty }): { id: string | undefined; numbers: Numbers | null } => {
    const [number, contact] = [ownerParty?.phoneNumber, guestParty?.phoneNumber]
    return { id, numbers: number === undefined || contact === undefined ? null : { number, contact } }
  })
