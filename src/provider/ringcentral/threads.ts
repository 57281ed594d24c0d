import { DAY_MS } from '../../core/limits.ts'
import type { ProviderResult, MessageQuery, StoredSms, UnreadableRecord } from '../provider.ts'
import { byTheirClock } from './lag.ts'
import { oldestFirst } from './message-store.ts'
import { listAll } from './pages.ts'
import { type Call, MAX_LIST_BYTES, type Requester } from './request.ts'
import { type AnyEntry, type Entry, anyEntry, idOf, smsOf, syncSchema } from './thread-entries.ts'
import { THREADS_PATH, ThreadNumbers, between } from './thread-numbers.ts'

export const THREADS_FILTER = `${THREADS_PATH}/entries/sync`

/** Message threads (RingCentral API reference, "Message Threads"). */
export class MessageThreads {
  readonly #numbers: ThreadNumbers

  constructor(readonly requester: Requester) {
    this.#numbers = new ThreadNumbers(requester)
  }

  /** `GET …/message-threads/messages`. */
  async list(accessToken: string, query: Omit<MessageQuery, 'direction'>): Promise<ProviderResult<StoredSms[]>> {
    const { lag } = this.requester
    const { since, until = lag.now() + DAY_MS, skipped } = query
    const listed = await byTheirClock(lag, (lagMs) => {
      const list = { path: `${THREADS_PATH}/messages`, query: between(since - lagMs, until - lagMs) }
      return listAll(this.requester, accessToken, list, anyEntry)
    })
    return listed.ok ? this.#smsOf(accessToken, listed.value, skipped) : listed
  }

  /** A full `GET …/message-threads/entries/sync`, of which only the token matters: it lists only messages of open threads. */
  async start(accessToken: string): Promise<ProviderResult<string>> {
    const full = await this.#sync(accessToken, { syncType: 'FSync', scope: 'Accessible' })
    return full.ok ? { ok: true, value: full.value.syncInfo.syncToken } : full
  }

  /** The same, from a token. */
  async sync(
    accessToken: string,
    { syncToken, skipped }: { syncToken: string } & Pick<MessageQuery, 'skipped'>,
  ): Promise<ProviderResult<{ records: StoredSms[]; syncToken: string }>> {
    const synced = await this.#sync(accessToken, { syncType: 'ISync', syncToken })
    if (!synced.ok) return synced
    const read = await this.#smsOf(accessToken, synced.value.records, skipped)
    return read.ok ? { ok: true, value: { records: read.value, syncToken: synced.value.syncInfo.syncToken } } : read
  }

  #sync(accessToken: string, query: Record<string, string>) {
    const path = THREADS_FILTER
    const call: Call = { method: 'GET', path, query, as: { accessToken }, maxAnswerBytes: MAX_LIST_BYTES }
    return this.requester.read(call, syncSchema)
  }

  async #smsOf(
    accessToken: string,
    entries: readonly AnyEntry[],
    skipped?: (record: UnreadableRecord) => void,
  ): Promise<ProviderResult<StoredSms[]>> {
    const inbound: Entry[] = []
    for (const entry of entries)
      if ('unreadable' in entry) skipped?.(entry.unreadable)
      else if (entry.direction === 'Inbound') inbound.push(entry)
    const learnt = await this.#numbers.learn(accessToken, new Set(inbound.map(({ threadId }) => threadId)))
    if (!learnt.ok) return learnt
    return { ok: true, value: oldestFirst(inbound.toReversed().flatMap((entry) => this.#sms(entry, skipped))) }
  }

  #sms(entry: Entry, skipped?: (record: UnreadableRecord) => void): StoredSms[] {
    const numbers = this.#numbers.of(entry.threadId)
    if (numbers === null) skipped?.({ providerMessageId: idOf(entry), member: 'threadId' })
    return numbers === null ? [] : [smsOf(entry, numbers)]
  }
}
