import { LRUCache } from 'lru-cache'
import { type Block, type BlockHeader, type Codes, PLACES, isWide } from './block.ts'
import type { ReadConnection } from './connection.ts'
import type { ListName } from './list.ts'

/** All columns of five million rows; they are let go with the thread, when nobody lists for a while. */
const MAX_COLUMN_BYTES = 96 << 20
const MAX_HEADERS = 20_000
const MAX_TENANTS = 1000

/** Blocks as the database has them now. A block never changes and its id is never used twice, so what was read once is kept. */
export class BlockStore {
  private readonly headers = new LRUCache<number, Block>({ max: MAX_HEADERS })
  private readonly columns = new LRUCache<number, Codes | Float64Array>({
    maxSize: MAX_COLUMN_BYTES,
    sizeCalculation: (column) => column.byteLength + 200,
  })
  private readonly orders = new LRUCache<string, { ids: string; blocks: Block[] }>({ max: MAX_TENANTS })

  constructor(private readonly connection: ReadConnection) {}

  /** A tenant's blocks, newest first. */
  blocks(list: ListName, tenantId: string): Block[] {
    const ids = String(this.connection.value(IDS, [list, tenantId]) ?? '')
    const known = this.orders.get(`${list} ${tenantId}`)
    if (known?.ids === ids) return known.blocks
    const blocks = ids === '' ? [] : ids.split(',').map((id) => this.block(Number(id)))
    blocks.sort((a, b) => b.until - a.until)
    this.orders.set(`${list} ${tenantId}`, { ids, blocks })
    return blocks
  }

  /** What `blocks` answered last. */
  lastBlocks(list: ListName, tenantId: string): readonly Block[] {
    return this.orders.get(`${list} ${tenantId}`)?.blocks ?? NO_BLOCKS
  }

  codes(block: Block, place: number): Codes {
    const column = block.header.columns[place]
    const isWord = column !== undefined && isWide(column)
    return this.column(block, place, (bytes) => (isWord ? new Uint16Array(bytes.buffer) : bytes)) as Codes
  }

  numbers(block: Block, place: number): Float64Array {
    return this.column(block, place, (bytes) => new Float64Array(bytes.buffer)) as Float64Array
  }

  private column(block: Block, place: number, view: (bytes: Uint8Array) => Codes | Float64Array): Codes | Float64Array {
    const id = block.id * PLACES + place
    const known = this.columns.get(id)
    if (known !== undefined) return known
    const stored = this.connection.blob('SELECT data FROM list_block_columns WHERE id = ?', [id])
    // Copied: where the driver's bytes begin need not suit a wider array.
    const column = view(stored === null ? new Uint8Array(block.header.rows) : new Uint8Array(stored))
    this.columns.set(id, column)
    return column
  }

  private block(id: number): Block {
    const known = this.headers.get(id)
    if (known !== undefined) return known
    const [row] = this.connection.rows('SELECT after_at, until_at, header FROM list_blocks WHERE id = ?', [id])
    const [after, until, header] = row ?? []
    const block = { id, after: Number(after), until: Number(until), header: JSON.parse(String(header)) as BlockHeader }
    this.headers.set(id, block)
    return block
  }
}

const NO_BLOCKS: readonly Block[] = []
/** Below zero are those that stand for a stretch while it is built. */
const IDS = 'SELECT group_concat(id) FROM list_blocks WHERE list = ? AND tenant_id = ? AND id > 0'
