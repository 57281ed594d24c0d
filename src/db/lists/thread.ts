import { setImmediate as nextTick } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { LISTS, type ListName, type ListPage, type ListQuery } from './list.ts'
import { MIN_SEGMENT_ROWS, nextRange, readSegment, tenantsSince } from './plan.ts'
import { ReadConnection } from './read-connection.ts'
import { Search } from './search.ts'
import type { EncodedSegment, Segment } from './segment.ts'
import type { SegmentPlan } from './segment-writer.ts'
import { SegmentStore } from './store.ts'

// The reader thread: answers list queries, and builds segments for the main thread to store.

export type ThreadRequest =
  | { type: 'open'; path: string }
  | { type: 'page'; query: ListQuery }
  /** The next rows to compact, up to `now` by the wall clock. `isFirst`: search for tenants with new rows. */
  | { type: 'plan'; now: number; isFirst: boolean }
  | { type: 'build'; plan: SegmentPlan }
  | { type: 'close' }

/** Flat objects, because they pass between threads faster. */
export interface ThreadAnswers {
  open: object
  /** `isBehind`: rows of this list should be compacted. */
  page: ListPage & { isBehind: boolean }
  plan: { plan: SegmentPlan | null }
  build: { segment: EncodedSegment }
  close: object
}

export type ThreadAnswer = ThreadAnswers[ThreadRequest['type']]
export type ThreadReply = { id: number } & (ThreadAnswer | { failure: string })

declare const self: Worker

const LIST_NAMES = Object.keys(LISTS) as ListName[]
const CHECK_EVERY_MS = 1000
/** A gap with fewer rows than this does not start a compaction. */
const WORTHWHILE_ROWS = MIN_SEGMENT_ROWS * 2

let thread: ReaderThread | null = null

self.addEventListener('message', ({ data: { id, ...request } }: MessageEvent<ThreadRequest & { id: number }>) => {
  void answer(request)
    .catch((error: unknown) => ({ failure: String(error) }))
    .then((result) => {
      self.postMessage({ id, ...result })
      // The thread ends itself, outside of any call of the driver. The process goes on.
      if (request.type === 'close') setImmediate(() => process.exit(0))
    })
})

async function answer(request: ThreadRequest): Promise<ThreadAnswer> {
  if (request.type === 'open') thread = new ReaderThread(request.path)
  if (thread === null) throw new Error('The reader thread has no database yet')
  if (request.type === 'page') return thread.page(request.query)
  if (request.type === 'plan') return { plan: await thread.plan(request) }
  if (request.type === 'build') return { segment: await thread.build(request.plan) }
  if (request.type === 'close') thread.close()
  return {}
}

class ReaderThread {
  readonly #connection: ReadConnection
  readonly #store: SegmentStore
  readonly #search: Search
  /** Lists that may have something to compact, as `<list> <tenantId>`. */
  readonly #candidates = new Set<string>()
  /** Lists that were checked in the last second, with their segments at that time. */
  readonly #checked = new LRUCache<string, readonly Segment[]>({ max: 1000, ttl: CHECK_EVERY_MS })
  readonly #lastSeq: Record<ListName, number> = { messages: -1, deliveries: -1 }

  constructor(path: string) {
    this.#connection = new ReadConnection(path)
    this.#store = new SegmentStore(this.#connection)
    this.#search = new Search(this.#connection, this.#store)
  }

  close(): void {
    this.#connection.close()
  }

  page(query: ListQuery): ListPage & { isBehind: boolean } {
    return { ...this.#search.page(query), isBehind: this.#isBehind(query) }
  }

  build(plan: SegmentPlan): Promise<EncodedSegment> {
    return readSegment(this.#connection, plan, nextTick)
  }

  async plan({ now, isFirst }: { now: number; isFirst: boolean }): Promise<SegmentPlan | null> {
    for (const list of LIST_NAMES) if (isFirst || this.#lastSeq[list] === -1) this.#addCandidates(list)
    for (const key of this.#candidates) {
      const [list, tenantId] = key.split(' ') as [ListName, string]
      const segments = this.#store.segments(list, tenantId)
      const range = nextRange(this.#connection, list, tenantId, segments, now, this.#isOutdated)
      if (range !== null) return { list, tenantId, after: range.after, until: range.until }
      this.#candidates.delete(key)
      await nextTick()
    }
    return null
  }

  readonly #isOutdated = (segment: Segment): boolean => this.#search.states.isOutdated(segment)

  /** Checks at most once a second while the segments are the same, because a check often takes as long as the page. */
  #isBehind(query: ListQuery): boolean {
    const key = `${query.list} ${query.tenantId}`
    const segments = this.#store.lastSegments(query.list, query.tenantId)
    if (this.#checked.get(key) === segments) return false
    this.#checked.set(key, segments)
    const isBehind = segments.some(this.#isOutdated) || this.#search.hasGap(query, WORTHWHILE_ROWS)
    if (isBehind) this.#candidates.add(key)
    return isBehind
  }

  /** Tenants with rows that were inserted since the last call; at the first call all tenants. */
  #addCandidates(list: ListName): void {
    const last = this.#lastSeq[list]
    const newest = Number(this.#connection.value(`SELECT coalesce(max(seq), 0) FROM ${list}`, []))
    if (newest === last) return
    const tenants =
      last === -1
        ? this.#connection.rows('SELECT id FROM tenants', [])
        : this.#connection.rows(tenantsSince(list), [last])
    for (const [tenantId] of tenants) this.#candidates.add(`${list} ${String(tenantId)}`)
    this.#lastSeq[list] = newest
  }
}
