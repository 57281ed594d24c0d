import { LRUCache } from 'lru-cache'
import { Dictionary } from './dictionary.ts'
import type { ListName } from './list.ts'
import type { ReadConnection } from './read-connection.ts'
import { type CodeColumn, SEQ, type Segment, TIME } from './segment.ts'

/** Enough for all columns of three million rows. The memory is freed when the idle thread is closed. */
const MAX_COLUMN_BYTES = 96 << 20
const MAX_SEGMENTS = 20_000
const MAX_TENANTS = 1000

/** Reads the segments of the database. A stored segment never changes and its id is never reused, so they are cached. */
export class SegmentStore {
  readonly #known = new LRUCache<number, Segment>({ max: MAX_SEGMENTS })
  readonly #ofTenants = new LRUCache<string, { ids: string | null; segments: Segment[] }>({ max: MAX_TENANTS })
  readonly #numbers = new LRUCache<string, Float64Array>({
    maxSize: MAX_COLUMN_BYTES / 2,
    sizeCalculation: ({ byteLength }) => byteLength + 200,
  })
  readonly #columns = new LRUCache<string, CodeColumn>({
    maxSize: MAX_COLUMN_BYTES / 2,
    sizeCalculation: ({ codes, dictionary }) =>
      codes.byteLength + dictionary.text.length + dictionary.ends.byteLength + 300,
  })

  constructor(readonly connection: ReadConnection) {}

  /** A tenant's segments, newest first. Returns the same array as long as the segments are the same. */
  segments(list: ListName, tenantId: string): readonly Segment[] {
    const key = `${list} ${tenantId}`
    const ids = String(this.connection.value(IDS, [list, tenantId]) ?? '')
    const last = this.#ofTenants.get(key)
    if (last?.ids === ids) return last.segments
    const all = ids === '' ? [] : ids.split(',').map((id) => this.#segment(Number(id)))
    const segments = all.filter((segment) => segment !== null).toSorted((a, b) => b.until - a.until)
    // A segment that is being built keeps its id when it is finished, so its ids are not cached.
    this.#ofTenants.set(key, { ids: segments.length < all.length ? null : ids, segments })
    return segments
  }

  /** The segments that `segments` returned last. */
  lastSegments(list: ListName, tenantId: string): readonly Segment[] {
    return this.#ofTenants.get(`${list} ${tenantId}`)?.segments ?? NO_SEGMENTS
  }

  seqs(segment: Segment): Float64Array {
    return this.#numberColumn(segment, SEQ)
  }

  times(segment: Segment): Float64Array {
    return this.#numberColumn(segment, TIME)
  }

  column({ id }: Segment, name: string): CodeColumn {
    const key = `${id} ${name}`
    const known = this.#columns.get(key)
    if (known !== undefined) return known
    const [data, text, ends] = this.#stored(id, name)
    const dictionary = new Dictionary(String(text ?? ''), new Uint32Array(bufferOf(ends)))
    const column = { codes: new Uint16Array(bufferOf(data)), dictionary }
    this.#columns.set(key, column)
    return column
  }

  #numberColumn({ id }: Segment, name: string): Float64Array {
    const key = `${id} ${name}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const numbers = new Float64Array(bufferOf(this.#stored(id, name)[0]))
    this.#numbers.set(key, numbers)
    return numbers
  }

  #stored(id: number, name: string): readonly unknown[] {
    const [row] = this.connection.rows(COLUMN, [id, name])
    if (row === undefined) throw new Error(`Segment ${id} has no column ${name}`)
    return row
  }

  /** Returns null while the segment is being built. */
  #segment(id: number): Segment | null {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const [row = []] = this.connection.rows(SEGMENT, [id])
    if (row[2] === null) return null
    const [after = 0, until = 0, rows = 0, openRows = 0] = row.map(Number)
    const segment = { id, after, until, rows, openRows }
    this.#known.set(id, segment)
    return segment
  }
}

const NO_SEGMENTS: readonly Segment[] = []
/** Reads only the index. */
const IDS = 'SELECT group_concat(id) FROM list_segments WHERE list = ? AND tenant_id = ?'
const SEGMENT = 'SELECT after_at, until_at, row_count, open_count FROM list_segments WHERE id = ?'
const COLUMN =
  'SELECT data, dictionary_text, dictionary_ends FROM list_segment_columns WHERE segment_id = ? AND name = ?'

/** Copies the bytes, because those of the driver may be misaligned for a wider array. */
const bufferOf = (bytes: unknown): ArrayBuffer => new Uint8Array(bytes instanceof Uint8Array ? bytes : []).buffer
