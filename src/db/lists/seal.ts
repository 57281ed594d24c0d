import type { Block } from './block.ts'
import type { ReadConnection } from './connection.ts'
import { type EncodedBlock, type SourceRow, encodeBlock } from './encode.ts'
import { LISTS, type ListName, type Stretch } from './list.ts'
import type { BlockStore } from './store.ts'
import { stretchesOf } from './stretches.ts'

/** A stretch that wants to be a block. */
export interface Plan extends Stretch {
  list: ListName
  tenantId: string
}

/** Fewer rows than this are counted in the table. */
export const SMALL_BLOCK_ROWS = 256
const BLOCK_ROWS = 4096
/** Younger rows are left: commits that are under way may still bring rows of their time. */
const MIN_AGE_MS = 250
/** A block with open rows is built again after twice the age it was built at. */
const MIN_REBUILD_MS = 10_000
const ROWS_PER_STEP = 512

const ALL_TIMES: Stretch = { after: -1, until: Number.MAX_SAFE_INTEGER }

/**
 * Tenants with rows behind a `seq`. Left to itself SQLite reads the whole index of tenants, to have them in order: with a
 * million rows 60 ms for each block.
 */
export const tenantsSince = (list: ListName): string =>
  `SELECT DISTINCT tenant_id FROM ${list} NOT INDEXED WHERE seq > ?`

/** The next stretch of a tenant's list that wants to be a block; null when all is well. */
export function nextStretch(
  connection: ReadConnection,
  store: BlockStore,
  list: ListName,
  tenantId: string,
  now: number,
): Stretch | null {
  const blocks = store.blocks(list, tenantId)
  for (const stretch of stretchesOf(blocks, { ...ALL_TIMES, until: now - MIN_AGE_MS }).toReversed()) {
    if ('id' in stretch) continue
    const cut = cutOf(connection, list, tenantId, stretch)
    if (cut !== null) return cut
  }
  return smallOnes(blocks) ?? blocks.find((block) => isStale(block, now)) ?? null
}

function cutOf(connection: ReadConnection, list: ListName, tenantId: string, stretch: Stretch): Stretch | null {
  const { at } = LISTS[list]
  const timeAt = (place: number): number | null => {
    const sql = `SELECT ${at} FROM ${list} WHERE tenant_id = ? AND ${at} > ? AND ${at} <= ? ORDER BY ${at} LIMIT 1 OFFSET ?`
    const time = connection.value(sql, [tenantId, stretch.after, stretch.until, place])
    return time === null ? null : Number(time)
  }
  if (timeAt(SMALL_BLOCK_ROWS - 1) === null) return null
  const last = timeAt(BLOCK_ROWS - 1)
  if (last !== null) return { after: stretch.after, until: last }
  const sql = `SELECT max(${at}) FROM ${list} WHERE tenant_id = ? AND ${at} > ? AND ${at} <= ?`
  return { after: stretch.after, until: Number(connection.value(sql, [tenantId, stretch.after, stretch.until])) }
}

/** Neighbours that make one whole block together. */
function smallOnes(blocks: readonly Block[]): Stretch | null {
  let run: Block[] = []
  let rows = 0
  for (const block of blocks.toReversed()) {
    const follows = run.at(-1)?.until === block.after
    if (block.header.rows >= BLOCK_ROWS || !follows) [run, rows] = [[], 0]
    if (block.header.rows >= BLOCK_ROWS) continue
    run.push(block)
    rows += block.header.rows
    if (rows >= BLOCK_ROWS && run.length > 1) return { after: run[0]?.after ?? 0, until: block.until }
  }
  return null
}

function isStale({ header, until }: Block, now: number): boolean {
  if (header.columns.every(({ live }) => live === 0)) return false
  return now - header.builtAt > Math.max(MIN_REBUILD_MS, header.builtAt - until)
}

/** Reads the rows in steps, with `pause` between them, so that queries are answered meanwhile. */
export async function build(
  connection: ReadConnection,
  { list, tenantId, after, until }: Plan,
  now: number,
  pause: () => Promise<void>,
): Promise<EncodedBlock> {
  const { at, columns } = LISTS[list]
  const sql = `SELECT seq, ${at}, ${columns.join(', ')} FROM ${list} WHERE tenant_id = ? AND ${at} <= ?
    AND (${at}, seq) > (?, ?) ORDER BY ${at}, seq LIMIT ${ROWS_PER_STEP}`
  const rows: SourceRow[] = []
  for (let from: [number, number] = [after, Number.MAX_SAFE_INTEGER]; ; await pause()) {
    const read = connection.rows(sql, [tenantId, until, ...from])
    rows.push(...read)
    const last = read.at(-1)
    if (last === undefined || read.length < ROWS_PER_STEP) break
    from = [Number(last[1]), Number(last[0])]
  }
  return encodeBlock(LISTS[list], rows, now)
}
