import { LISTS, type ListName, type Range } from './list.ts'
import { isSegment, rangesOf } from './ranges.ts'
import type { ReadConnection } from './read-connection.ts'
import { type EncodedSegment, type Segment, type SourceRow, encodeSegment } from './segment.ts'
import type { SegmentPlan } from './segment-writer.ts'

/** Fewer rows than this stay in the table. */
export const MIN_SEGMENT_ROWS = 256
const SEGMENT_ROWS = 4096
/** Younger rows stay in the table: commits in progress may still insert rows of their time. */
const MIN_AGE_MS = 250
const ROWS_PER_STEP = 512

const ALL_TIMES: Range = { after: -1, until: Number.MAX_SAFE_INTEGER }

/**
 * Selects the tenants that have rows after a `seq`. Without NOT INDEXED, SQLite would read the complete index of tenants to get
 * them in order, which takes 60 ms per segment with a million rows.
 */
export const tenantsSince = (list: ListName): string =>
  `SELECT DISTINCT tenant_id FROM ${list} NOT INDEXED WHERE seq > ?`

/**
 * The next range of a tenant's list to compact, or null. Large gaps come first, then small segments to merge, then outdated
 * segments. `segments` are newest first.
 */
export function nextRange(
  connection: ReadConnection,
  list: ListName,
  tenantId: string,
  segments: readonly Segment[],
  now: number,
  isOutdated: (segment: Segment) => boolean,
): Range | null {
  for (const range of rangesOf(segments, { ...ALL_TIMES, until: now - MIN_AGE_MS }).toReversed()) {
    const start = isSegment(range) ? null : startOf(connection, list, tenantId, range)
    if (start !== null) return start
  }
  return smallNeighbours(segments) ?? segments.find(isOutdated) ?? null
}

/** The oldest rows of a gap, enough for one segment; null if the gap has too few. */
function startOf(connection: ReadConnection, list: ListName, tenantId: string, gap: Range): Range | null {
  const { at } = LISTS[list]
  const args = [tenantId, gap.after, gap.until]
  const where = `FROM ${list} WHERE tenant_id = ? AND ${at} > ? AND ${at} <= ?`
  const timeOf = (row: number): number | null => {
    const time = connection.value(`SELECT ${at} ${where} ORDER BY ${at} LIMIT 1 OFFSET ?`, [...args, row - 1])
    return time === null ? null : Number(time)
  }
  if (timeOf(MIN_SEGMENT_ROWS) === null) return null
  const until = timeOf(SEGMENT_ROWS) ?? Number(connection.value(`SELECT max(${at}) ${where}`, args))
  return { after: gap.after, until }
}

/** Adjacent small segments that together make a full one. */
function smallNeighbours(segments: readonly Segment[]): Range | null {
  let run: Segment[] = []
  let rows = 0
  for (const segment of segments.toReversed()) {
    const isAdjacent = run.at(-1)?.until === segment.after
    if (segment.rows >= SEGMENT_ROWS || !isAdjacent) [run, rows] = [[], 0]
    if (segment.rows >= SEGMENT_ROWS) continue
    run.push(segment)
    rows += segment.rows
    if (rows >= SEGMENT_ROWS && run.length > 1) return { after: run[0]?.after ?? 0, until: segment.until }
  }
  return null
}

/** Reads the rows of a plan in steps, with `pause` between them so that queries are answered meanwhile. */
export async function readSegment(
  connection: ReadConnection,
  { list, tenantId, after, until }: SegmentPlan,
  pause: () => Promise<void>,
): Promise<EncodedSegment> {
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
  return encodeSegment(LISTS[list], rows)
}
