import { AT_PLACE, type Block, SEQ_PLACE, type Wanted, wantedIn } from './block.ts'
import type { Connection } from './connection.ts'
import { LISTS, type ListPage, type ListQuery, type ListRow, type Stretch, conditionOf, stretchOf } from './list.ts'
import { foundAt, isUnsure, match } from './match.ts'
import type { BlockStore } from './store.ts'
import { stretchesOf } from './stretches.ts'

/** One stretch of the list, newest rows first. */
interface Part {
  count: number
  seqs(offset: number, limit: number): number[]
}

/** What was found in a block before the unsure rows were looked up. */
interface Hit {
  block: Block
  wanted: Wanted[]
  low: number
  high: number
  sure: number
  unsure: number[]
}

/** Total and page of one query from one snapshot: blocks where there are any, the table where there are none. */
export class Search {
  constructor(
    private readonly connection: Connection,
    private readonly store: BlockStore,
  ) {}

  page(query: ListQuery): ListPage {
    return this.connection.snapshot(() => {
      const parts = this.parts(query)
      const total = parts.reduce((sum, part) => sum + part.count, 0)
      return { total, rows: this.rows(query, seqsOf(parts, query.offset, query.limit)) }
    })
  }

  /** Rows outside of blocks, counted no further than `enough`. */
  unblocked(query: ListQuery, enough: number): number {
    let count = 0
    for (const stretch of stretchesOf(this.store.blocks(query.list, query.tenantId), stretchOf(query))) {
      if ('id' in stretch) continue
      count += Number(this.connection.value(boundedCount(query), [query.tenantId, stretch.after, stretch.until, enough]))
      if (count >= enough) break
    }
    return count
  }

  private parts(query: ListQuery): Part[] {
    const range = stretchOf(query)
    const found: (Part | Hit)[] = []
    for (const stretch of stretchesOf(this.store.blocks(query.list, query.tenantId), range)) {
      const part = 'id' in stretch ? this.hit(stretch, query, range) : this.tablePart(query, stretch)
      if (part !== null) found.push(part)
    }
    const passed = this.lookUp(query, found.flatMap((one) => ('unsure' in one ? one.unsure : [])))
    return found.map((one) => ('unsure' in one ? this.blockPart(one, passed) : one))
  }

  private tablePart(query: ListQuery, stretch: Stretch): Part | null {
    const { sql, args } = conditionOf(query, stretch)
    const { name, at } = LISTS[query.list]
    const count = Number(this.connection.value(`SELECT count(*) FROM ${name} WHERE ${sql}`, args))
    if (count === 0) return null
    const page = `SELECT seq FROM ${name} WHERE ${sql} ORDER BY ${at} DESC, seq DESC LIMIT ? OFFSET ?`
    const seqs = (offset: number, limit: number): number[] =>
      this.connection.rows(page, [...args, limit, offset]).map(([seq]) => Number(seq))
    return { count, seqs }
  }

  private hit(block: Block, query: ListQuery, range: Stretch): Hit | null {
    const wanted = wantedIn(LISTS[query.list], block.header, query)
    if (wanted === null) return null
    const { low, high } = this.placesIn(block, range)
    const isWhole = low === 0 && high === block.header.rows
    const [first] = wanted
    if (isWhole && first === undefined) return { block, wanted, low, high, sure: high, unsure: [] }
    if (isWhole && wanted.length === 1 && first?.unsure === -1)
      return { block, wanted, low, high, sure: first.count, unsure: [] }
    return this.scan({ block, wanted, low, high, sure: 0, unsure: [] })
  }

  private scan(hit: Hit): Hit {
    const codesOf = this.codesOf(hit.block)
    const count = match(hit.wanted, codesOf, hit.low, hit.high)
    hit.sure = count
    if (hit.wanted.every(({ unsure }) => unsure === -1)) return hit
    const seqs = this.store.numbers(hit.block, SEQ_PLACE)
    for (let k = 0; k < count; k++) {
      const row = foundAt(k)
      if (isUnsure(hit.wanted, codesOf, row)) hit.unsure.push(seqs[row] ?? 0)
    }
    hit.sure -= hit.unsure.length
    return hit
  }

  private blockPart({ block, wanted, low, high, sure, unsure }: Hit, passed: ReadonlySet<number>): Part {
    const failed = new Set(unsure.filter((seq) => !passed.has(seq)))
    const count = sure + unsure.length - failed.size
    const seqs = (offset: number, limit: number): number[] => {
      const places = match(wanted, this.codesOf(block), low, high)
      const numbers = this.store.numbers(block, SEQ_PLACE)
      const taken: number[] = []
      for (let k = places - 1, skip = offset; k >= 0 && taken.length < limit; k--) {
        const seq = numbers[foundAt(k)] ?? 0
        if (!failed.has(seq) && skip-- <= 0) taken.push(seq)
      }
      return taken
    }
    return { count, seqs }
  }

  /** Which of the rows, whose codes leave it open, pass after all. */
  private lookUp(query: ListQuery, seqs: readonly number[]): ReadonlySet<number> {
    if (seqs.length === 0) return new Set()
    const { sql, args } = conditionOf(query)
    const found = this.connection.rows(
      `SELECT seq FROM ${query.list} WHERE seq IN (SELECT value FROM json_each(?)) AND +${sql}`,
      [JSON.stringify(seqs), ...args],
    )
    return new Set(found.map(([seq]) => Number(seq)))
  }

  private rows({ list }: ListQuery, seqs: readonly number[]): ListRow[] {
    if (seqs.length === 0) return []
    return this.connection.records(
      `SELECT * FROM ${list} WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY ${LISTS[list].at} DESC, seq DESC`,
      [JSON.stringify(seqs)],
    )
  }

  private placesIn(block: Block, { after, until }: Stretch): { low: number; high: number } {
    const { rows } = block.header
    if (after <= block.after && until >= block.until) return { low: 0, high: rows }
    const times = this.store.numbers(block, AT_PLACE)
    return { low: placesUpTo(times, after), high: placesUpTo(times, until) }
  }

  private codesOf = (block: Block) => (place: number) => this.store.codes(block, place)
}

/** How many of the ascending times are not after `time`. */
function placesUpTo(times: Float64Array, time: number): number {
  let low = 0
  for (let high = times.length; low < high; ) {
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

const boundedCount = ({ list }: ListQuery): string =>
  `SELECT count(*) FROM (SELECT 1 FROM ${list} WHERE tenant_id = ? AND ${LISTS[list].at} > ? AND ${LISTS[list].at} <= ? LIMIT ?)`
