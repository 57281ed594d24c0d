import { atMost } from '../../core/at-most.ts'
import { FairQueue } from '../fair-queue.ts'
import type { ListPage, ListQuery } from './list.ts'
import type { EncodedSegment } from './segment.ts'
import type { SegmentPlan } from './segment-writer.ts'
import type { ThreadAnswer, ThreadAnswers, ThreadRequest, ThreadReply } from './thread.ts'

/**
 * The main thread's side of the reader thread. The first query that needs the thread starts it. The thread answers one request
 * at a time. If it fails or does not answer in time, a new thread gets the request: the thread only reads.
 */
export class ListReader {
  #thread: Worker | null = null
  readonly #queue = new FairQueue<Query>()
  readonly #asked = new Map<string, Promise<ListPage>>()
  readonly #running = new Map<number, Call>()
  #isBusy = false
  #isClosed = false
  #lastId = 0
  #idle: Timer | null = null

  constructor(
    readonly path: string,
    /** Called when a page was read from rows that should be compacted. */
    readonly onBehind: () => void,
    readonly bounds = { answerMs: 30_000 },
  ) {}

  /** Reads a page. Equal queries that wait share one answer. */
  page(query: ListQuery): Promise<ListPage> {
    const key = JSON.stringify(query)
    const known = this.#asked.get(key)
    if (known !== undefined) return known
    const page = new Promise<ListPage>((resolve, reject) => {
      this.#queue.add(query.tenantId, { query, resolve, reject, started: () => this.#asked.delete(key) })
    })
    this.#asked.set(key, page)
    this.#next()
    return page
  }

  /** The next rows to compact, up to `now` by the wall clock; null if there are none. `isFirst`: search for tenants with new rows. */
  async plan(now: number, isFirst: boolean): Promise<SegmentPlan | null> {
    return (await this.#ask({ type: 'plan', now, isFirst })).plan
  }

  async build(plan: SegmentPlan): Promise<EncodedSegment> {
    return (await this.#ask({ type: 'build', plan })).segment
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#idle !== null) clearTimeout(this.#idle)
    await this.#retire()
    const closed = new Error('The database is closed')
    for (let query = this.#queue.take(); query !== undefined; query = this.#queue.take()) query.reject(closed)
  }

  /** Lets the thread close its connection before it ends: otherwise the connection and its WAL file would outlive it. */
  async #retire(): Promise<void> {
    const thread = this.#thread
    if (thread === null) return
    this.#thread = null
    const closed = this.#post(thread, { type: 'close' }).catch(() => undefined)
    await atMost(CLOSE_MS, closed)
    this.#rejectAll(thread, this.#isClosed ? 'The database is closed' : 'The reader was closed')
  }

  /** Closes an idle thread after a while, which frees its memory. */
  #closeWhenIdle(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    if (this.#isClosed || this.#running.size > 0) return
    this.#idle = setTimeout(() => void this.#retire(), MAX_IDLE_MS)
    this.#idle.unref()
  }

  #next(): void {
    const query = this.#isBusy ? undefined : this.#queue.take()
    if (query === undefined) return
    this.#isBusy = true
    // From now on an equal query needs a read of its own, because this snapshot may miss its commits.
    query.started()
    void this.#answerPage(query).finally(() => {
      this.#isBusy = false
      this.#next()
    })
  }

  async #answerPage({ query, resolve, reject }: Query): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { total, items, isBehind } = await this.#ask({ type: 'page', query })
        resolve({ total, items })
        return void (isBehind && this.onBehind())
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS || this.#isClosed) return reject(error)
      }
    }
  }

  #ask<Request extends ThreadRequest>(request: Request): Promise<ThreadAnswers[Request['type']]> {
    if (this.#isClosed) return Promise.reject(new Error('The database is closed'))
    this.#thread ??= this.#start()
    return this.#post(this.#thread, request) as Promise<ThreadAnswers[Request['type']]>
  }

  #post(thread: Worker, request: ThreadRequest): Promise<ThreadAnswer> {
    const id = ++this.#lastId
    if (this.#idle !== null) clearTimeout(this.#idle)
    return new Promise<ThreadAnswer>((resolve, reject) => {
      const late = (): void => this.#replace(thread, `The reader did not answer within ${this.bounds.answerMs} ms`)
      const deadline = setTimeout(late, this.bounds.answerMs)
      deadline.unref()
      const finish = (): void => {
        clearTimeout(deadline)
        this.#running.delete(id)
        this.#closeWhenIdle()
      }
      this.#running.set(id, {
        thread,
        resolve: (answer) => (finish(), resolve(answer)),
        reject: (error) => (finish(), reject(error)),
      })
      thread.postMessage({ ...request, id })
    })
  }

  #start(): Worker {
    const thread = new Worker(threadUrl(), { smol: true })
    thread.unref()
    thread.addEventListener('message', ({ data }: MessageEvent<ThreadReply>) => {
      const call = this.#running.get(data.id)
      if (!('failure' in data)) return call?.resolve(data)
      call?.reject(new Error(data.failure))
      // A connection that has failed is not used again: see the gate.
      return void (this.#thread === thread && this.#retire())
    })
    thread.addEventListener('error', (event) => this.#replace(thread, event.message))
    thread.addEventListener('close', () => this.#replace(thread, 'The reader ended'))
    this.#post(thread, { type: 'open', path: this.path }).catch(() => undefined)
    return thread
  }

  #replace(thread: Worker, reason: string): void {
    if (this.#thread !== thread) return
    this.#thread = null
    // The thread exits by itself: the driver aborts the whole process when a thread is terminated during a call.
    thread.postMessage({ type: 'close', id: ++this.#lastId })
    this.#rejectAll(thread, reason)
  }

  #rejectAll(thread: Worker, reason: string): void {
    for (const call of this.#running.values()) if (call.thread === thread) call.reject(new Error(reason))
  }
}

interface Query {
  query: ListQuery
  resolve(page: ListPage): void
  reject(error: unknown): void
  started(): void
}

interface Call {
  thread: Worker
  resolve(answer: ThreadAnswer): void
  reject(error: Error): void
}

const MAX_ATTEMPTS = 3
const CLOSE_MS = 1000
const MAX_IDLE_MS = 5 * 60_000

/** In a bundle the thread's file is beside the entry point. */
const threadUrl = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url).href
