import type { Gate } from '../gate.ts'
import type { ListName, Range } from './list.ts'
import type { EncodedSegment, StoredColumn } from './segment.ts'

/** A range of a tenant's list that is to become one segment. */
export interface SegmentPlan extends Range {
  list: ListName
  tenantId: string
}

/**
 * Replaces the segments of the range by a new one without contents; returns its id. From now on the SQL triggers delete it if
 * a row of the range changes.
 */
export async function beginSegment(gate: Gate, { list, tenantId, after, until }: SegmentPlan): Promise<number> {
  const args = [list, tenantId, after, until]
  const results = await gate.batch([
    // A segment that was begun earlier and never finished.
    'DELETE FROM list_segments WHERE row_count IS NULL',
    { sql: 'DELETE FROM list_segments WHERE list = ? AND tenant_id = ? AND after_at >= ? AND until_at <= ?', args },
    { sql: 'INSERT INTO list_segments (list, tenant_id, after_at, until_at) VALUES (?, ?, ?, ?) RETURNING id', args },
  ])
  return Number(results[2]?.rows[0]?.['id'])
}

/** Stores the contents. Returns false and stores nothing if a row of the range has changed since `beginSegment`. */
export async function finishSegment(gate: Gate, id: number, segment: EncodedSegment): Promise<boolean> {
  const [updated] = await gate.batch([
    {
      sql: 'UPDATE list_segments SET row_count = ?, open_count = ? WHERE id = ?',
      args: [segment.rows, segment.openRows, id],
    },
    ...segment.columns.map((column) => ({ sql: INSERT_COLUMN, args: argsOf(id, column) })),
  ])
  return updated?.changes === 1
}

const INSERT_COLUMN = `INSERT INTO list_segment_columns (segment_id, name, data, dictionary_text, dictionary_ends)
  SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM list_segments WHERE id = ?1)`

const argsOf = (id: number, column: StoredColumn): (string | number | Uint8Array | null)[] => [
  id,
  column.name,
  column.data,
  column.dictionaryText,
  column.dictionaryEnds,
]
