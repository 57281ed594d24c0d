import { LRUCache } from 'lru-cache'
import type { Block } from './block.ts'
import type { EncodedBlock } from './encode.ts'
import { LISTS, type ListName, type ListPage, type ListQuery } from './list.ts'
import { ReadConnection } from './connection.ts'
import { Search } from './search.ts'
import { SMALL_BLOCK_ROWS, type Plan, build, nextStretch, tenantsSince } from './seal.ts'
import { BlockStore } from './store.ts'

// The reader thread: answers list queries, and builds blocks for the main thread to store.

export type Ask = { id: number } & (
  | { type: 'open'; path: string }
  | { type: 'page'; query: ListQuery }
  /** What wants to be a block next, of the rows up to `now` by the wall-clock. `isFirst`: new rows are looked for. */
  | { type: 'plan'; now: number; isFirst: boolean }
  | { type: 'build'; plan: Plan; now: number }
  | { type: 'close' }
)

export type Answer = { id: number } & (
  | { type: 'done' }
  /** In one level, which the two threads hand over faster. `behind`: it was seen that rows of the tenant should be in blocks. */
  | ({ type: 'page'; behind: boolean } & ListPage)
  | { type: 'planned'; plan: Plan | null }
  | { type: 'built'; block: EncodedBlock }
  | { type: 'failed'; message: string }
)

declare const self: Worker

const LIST_NAMES = Object.keys(LISTS) as ListName[]
const LOOK_EVERY_MS = 1000

let reader: Reader | null = null

self.addEventListener('message', ({ data }: MessageEvent<Ask>) => {
  void answer(data)
    .catch((error: unknown): Answer => ({ id: data.id, type: 'failed', message: String(error) }))
    .then((result) => {
      self.postMessage(result)
      // The thread ends here, with nothing of the driver under way, and the process goes on.
      if (data.type === 'close') setImmediate(() => process.exit(0))
    })
})

async function answer(ask: Ask): Promise<Answer> {
  const { id } = ask
  if (ask.type === 'open') {
    reader = new Reader(ask.path)
    return { id, type: 'done' }
  }
  if (reader === null) throw new Error('The reader has no database yet')
  if (ask.type === 'close') {
    reader.close()
    return { id, type: 'done' }
  }
  if (ask.type === 'page') return { id, type: 'page', ...reader.page(ask.query) }
  if (ask.type === 'plan') return { id, type: 'planned', plan: await reader.plan(ask) }
  return { id, type: 'built', block: await reader.build(ask.plan, ask.now) }
}

class Reader {
  private readonly connection: ReadConnection
  private readonly store: BlockStore
  private readonly search: Search
  /** Tenants with lists that may want new blocks, as `<list> <tenantId>`. */
  private readonly wanting = new Set<string>()
  /** Lists that were looked at a moment ago, with their blocks then. */
  private readonly looked = new LRUCache<string, readonly Block[]>({ max: 1000, ttl: LOOK_EVERY_MS })
  private readonly lastSeq: Record<ListName, number> = { messages: -1, deliveries: -1 }

  constructor(path: string) {
    this.connection = new ReadConnection(path)
    this.store = new BlockStore(this.connection)
    this.search = new Search(this.connection, this.store)
  }

  close(): void {
    this.connection.close()
  }

  page(query: ListQuery): ListPage & { behind: boolean } {
    return { ...this.search.page(query), behind: this.isBehind(query) }
  }

  /** Looks only now and then while the blocks are the same: for most lists it would take as long as the page. */
  private isBehind(query: ListQuery): boolean {
    const key = `${query.list} ${query.tenantId}`
    const blocks = this.store.lastBlocks(query.list, query.tenantId)
    if (this.looked.get(key) === blocks) return false
    this.looked.set(key, blocks)
    const isBehind = this.search.unblocked(query, SMALL_BLOCK_ROWS * 2) >= SMALL_BLOCK_ROWS * 2
    if (isBehind) this.wanting.add(key)
    return isBehind
  }

  build(plan: Plan, now: number): Promise<EncodedBlock> {
    return build(this.connection, plan, now, nextTurn)
  }

  async plan({ now, isFirst }: { now: number; isFirst: boolean }): Promise<Plan | null> {
    for (const list of LIST_NAMES) if (isFirst || this.lastSeq[list] === -1) this.noteNew(list)
    for (const key of this.wanting) {
      const [list, tenantId] = key.split(' ') as [ListName, string]
      const stretch = nextStretch(this.connection, this.store, list, tenantId, now)
      if (stretch !== null) return { list, tenantId, after: stretch.after, until: stretch.until }
      this.wanting.delete(key)
      await nextTurn()
    }
    return null
  }

  /** Tenants with rows that came since the last look; at the first look all. */
  private noteNew(list: ListName): void {
    const last = this.lastSeq[list]
    const newest = Number(this.connection.value(`SELECT coalesce(max(seq), 0) FROM ${list}`, []))
    if (newest === last) return
    const tenants =
      last === -1
        ? this.connection.rows('SELECT id FROM tenants', [])
        : this.connection.rows(tenantsSince(list), [last])
    for (const [tenantId] of tenants) this.wanting.add(`${list} ${String(tenantId)}`)
    this.lastSeq[list] = newest
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
