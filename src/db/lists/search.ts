import { LRUCache } from 'lru-cache'
import { AT_PLACE, type Block, SEQ_PLACE, type Wanted, wantedIn } from './block.ts'
import type { ReadConnection } from './connection.ts'
import { withTimes } from './item-times.ts'
import { type Cell, LISTS, type ListPage, type ListQuery, type Stretch, conditionOf, stretchOf } from './list.ts'
import { type Sieve, foundAt, isUnsure, match } from './match.ts'
import type { BlockStore } from './store.ts'
import { stretchesOf } from './stretches.ts'

/** One stretch of the list, newest rows first. */
interface Part {
  count: number
  seqs(offset: number, limit: number): number[]
}

/** What was found in a block. */
interface Hit {
  block: Block
  wanted: Wanted[]
  low: number
  high: number
  sure: number
  /** Rows whose codes leave open whether they pass. */
  unsure: number[]
  /** Of those, the ones that do not; null until they were looked up. */
  failed: ReadonlySet<number> | null
  /** Where all that were found are, if they are few: so they need not be found again for the page. */
  places: readonly number[] | null
}

/** Filters whose hits are remembered. */
const MAX_REMEMBERED = 64
/** Of five million rows and all remembered filters these are some fifteen megabytes. */
const FEW_FOUND = 16
const NONE: readonly number[] = []
const NO_SEQS: ReadonlySet<number> = new Set()

/** Total and page of one query from one snapshot: blocks where there are any, the table where there are none. */
export class Search {
  /** Filters → block → what was found in it: who pages or polls asks for the same again, and blocks do not change. */
  private readonly remembered = new LRUCache<string, Map<number, Hit>>({ max: MAX_REMEMBERED })

  constructor(
    private readonly connection: ReadConnection,
    private readonly store: BlockStore,
  ) {}

  page(query: ListQuery): ListPage {
    return this.connection.snapshot(() => {
      const parts = this.parts(query)
      const total = parts.reduce((sum, part) => sum + part.count, 0)
      return { total, items: this.items(query, seqsOf(parts, query.offset, query.limit)) }
    })
  }

  /** Rows outside of blocks, counted no further than `enough`. */
  unblocked(query: ListQuery, enough: number): number {
    let count = 0
    for (const stretch of stretchesOf(this.store.blocks(query.list, query.tenantId), stretchOf(query))) {
      if ('id' in stretch) continue
      count += Number(
        this.connection.value(boundedCount(query), [query.tenantId, stretch.after, stretch.until, enough]),
      )
      if (count >= enough) break
    }
    return count
  }

  private parts(query: ListQuery): Part[] {
    const range = stretchOf(query)
    const blocks = this.store.blocks(query.list, query.tenantId)
    const known = this.knownHits(query)
    // Many are of blocks that are gone.
    if (known.size > blocks.length * 2) known.clear()
    const found: (Part | Hit)[] = []
    for (const stretch of stretchesOf(blocks, range)) {
      const part = 'id' in stretch ? this.hit(stretch, query, range, known) : this.tablePart(query, stretch)
      if (part !== null) found.push(part)
    }
    this.lookUp(
      query,
      found.filter((one) => 'unsure' in one),
    )
    return found.map((one) => ('unsure' in one ? this.blockPart(one) : one))
  }

  private knownHits({ list, tenantId, equal }: ListQuery): Map<number, Hit> {
    const key = `${list} ${tenantId} ${JSON.stringify(equal)}`
    const known = this.remembered.get(key) ?? new Map<number, Hit>()
    this.remembered.set(key, known)
    return known
  }

  private tablePart(query: ListQuery, stretch: Stretch): Part | null {
    const { sql, args } = conditionOf(query, stretch)
    const { name, at } = LISTS[query.list]
    const count = Number(this.connection.value(`SELECT count(*) FROM ${name} WHERE ${sql}`, args))
    if (count === 0) return null
    const page = `SELECT seq FROM ${name} WHERE ${sql} ORDER BY ${at} DESC, seq DESC LIMIT ? OFFSET ?`
    const seqs = (offset: number, limit: number): number[] =>
      numbersIn(this.connection.value(`SELECT group_concat(seq) FROM (${page})`, [...args, limit, offset]))
    return { count, seqs }
  }

  private hit(block: Block, query: ListQuery, range: Stretch, known: Map<number, Hit>): Hit | null {
    const isWhole = range.after <= block.after && range.until >= block.until
    const remembered = isWhole ? known.get(block.id) : undefined
    if (remembered !== undefined) return remembered
    const wanted = wantedIn(LISTS[query.list], block.header, query)
    if (wanted === null) return null
    const { low, high } = isWhole ? { low: 0, high: block.header.rows } : this.placesIn(block, range)
    const hit: Hit = { block, wanted, low, high, sure: 0, unsure: [], failed: null, places: null }
    if (!isWhole || !countByHeader(hit)) this.scan(hit)
    if (isWhole && block.header.columns.every(({ live }) => live === 0)) known.set(block.id, hit)
    return hit
  }

  private scan(hit: Hit): void {
    const sieves = this.sieves(hit)
    const count = match(sieves, hit.low, hit.high)
    hit.sure = count
    if (count <= FEW_FOUND) hit.places = count === 0 ? NONE : Array.from({ length: count }, (_, k) => foundAt(k))
    if (count === 0 || hit.wanted.every(({ unsure }) => unsure === -1)) return
    const seqs = this.store.numbers(hit.block, SEQ_PLACE)
    for (let k = 0; k < count; k++) {
      const row = foundAt(k)
      if (isUnsure(sieves, row)) hit.unsure.push(seqs[row] ?? 0)
    }
    hit.sure -= hit.unsure.length
  }

  private blockPart(hit: Hit): Part {
    const { block, low, high, sure, unsure, failed } = hit
    const seqs = (offset: number, limit: number): number[] => {
      const { places } = hit
      const found = places?.length ?? match(this.sieves(hit), low, high)
      const numbers = this.store.numbers(block, SEQ_PLACE)
      const taken: number[] = []
      for (let k = found - 1, skip = offset; k >= 0 && taken.length < limit; k--) {
        const seq = numbers[places?.[k] ?? foundAt(k)] ?? 0
        if (failed?.has(seq) !== true && skip-- <= 0) taken.push(seq)
      }
      return taken
    }
    return { count: sure + unsure.length - (failed?.size ?? 0), seqs }
  }

  /** Finds out, in one query for all blocks, which of the unsure rows pass after all. */
  private lookUp(query: ListQuery, hits: readonly Hit[]): void {
    const open = hits.filter(({ failed }) => failed === null)
    const unsure = open.flatMap((hit) => hit.unsure)
    const passed = new Set(unsure.length === 0 ? [] : this.passing(query, unsure))
    for (const hit of open) {
      const failed = hit.unsure.filter((seq) => !passed.has(seq))
      hit.failed = failed.length === 0 ? NO_SEQS : new Set(failed)
    }
  }

  private passing(query: ListQuery, seqs: readonly number[]): number[] {
    const { sql, args } = conditionOf(query)
    const passing = `SELECT group_concat(seq) FROM ${query.list} WHERE seq IN (SELECT value FROM json_each(?)) AND +${sql}`
    return numbersIn(this.connection.value(passing, [JSON.stringify(seqs), ...args]))
  }

  /** In the order of `seqs`, as a CROSS JOIN keeps it, and in one text: each row that the driver hands over costs. */
  private items({ list, item }: ListQuery, seqs: readonly number[]): string {
    const sql = `SELECT group_concat(${item}) FROM json_each(?) AS place CROSS JOIN ${list} ON ${list}.seq = place.value`
    return withTimes(String(this.connection.value(sql, [JSON.stringify(seqs)]) ?? ''))
  }

  private placesIn(block: Block, { after, until }: Stretch): { low: number; high: number } {
    const times = this.store.numbers(block, AT_PLACE)
    return { low: placesUpTo(times, after), high: placesUpTo(times, until) }
  }

  private sieves({ block, wanted }: Hit): Sieve[] {
    return wanted.map(({ place, code, unsure }) => ({ codes: this.store.codes(block, place), code, unsure }))
  }
}

/** One filter at most, and each row sure: the header knows how many. */
function countByHeader(hit: Hit): boolean {
  const [first, ...others] = hit.wanted
  if (others.length > 0 || (first !== undefined && first.unsure !== -1)) return false
  hit.sure = first === undefined ? hit.high : first.count
  return true
}

/** How many of the ascending times are not after `time`. */
function placesUpTo(times: Float64Array, time: number): number {
  let low = 0
  for (let high = times.length; low < high;) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low
}

function seqsOf(parts: readonly Part[], offset: number, limit: number): number[] {
  const seqs: number[] = []
  let skip = offset
  for (const part of parts) {
    if (seqs.length >= limit) break
    if (skip < part.count) seqs.push(...part.seqs(skip, limit - seqs.length))
    skip = Math.max(0, skip - part.count)
  }
  return seqs
}

/** Of a list of numbers in one text: each row that the driver hands over costs. */
const numbersIn = (text: Cell): number[] => JSON.parse(`[${text ?? ''}]`) as number[]

const boundedCount = ({ list }: ListQuery): string =>
  `SELECT count(*) FROM (SELECT 1 FROM ${list} WHERE tenant_id = ? AND ${LISTS[list].at} > ? AND ${LISTS[list].at} <= ? LIMIT ?)`
