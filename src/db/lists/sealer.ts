import { type Gate, isConstraint } from '../gate.ts'
import { PLACES } from './block.ts'
import { LISTS } from './list.ts'
import type { Reader } from './reader.ts'
import { type BuiltBlock, SMALL_BLOCK_ROWS } from './seal.ts'

const PAUSE_MS = 3000
const PAUSE_BETWEEN_BLOCKS_MS = 5

/** Stores what the reader builds. It works only after many writes, or when a query met many rows outside of blocks. */
export class Sealer {
  private writes = 0
  private timer: Timer | null = null
  private running: Promise<void> = Promise.resolve()
  private isStopped = false

  constructor(
    private readonly gate: Gate,
    private readonly reader: Reader,
  ) {}

  /** Rows were handed to the writer. */
  noteWrite(): void {
    if (++this.writes >= SMALL_BLOCK_ROWS) this.wake()
  }

  wake(): void {
    if (this.isStopped || this.timer !== null) return
    this.timer = setTimeout(() => {
      this.running = this.run().catch(() => undefined)
      void this.running.then(() => {
        this.timer = null
        if (this.writes >= SMALL_BLOCK_ROWS) this.wake()
      })
    }, PAUSE_MS)
    this.timer.unref()
  }

  async stop(): Promise<void> {
    this.isStopped = true
    if (this.timer !== null) clearTimeout(this.timer)
    await this.running
  }

  private async run(): Promise<void> {
    this.writes = 0
    while (!this.isStopped) {
      const block = await this.reader.nextBlock(Date.now())
      if (block === null || !(await this.store(block))) return
      await Bun.sleep(PAUSE_BETWEEN_BLOCKS_MS)
    }
  }

  /** False when the rows are not those any more that the block was built from: it is built anew another time. */
  private async store(block: BuiltBlock): Promise<boolean> {
    const { list, tenantId, after, until, rows, sum } = block
    const { at } = LISTS[list]
    const columns = block.columns.map(([place, bytes]) => ({
      sql: `INSERT INTO list_block_columns (id, data) SELECT max(id) * ${PLACES} + ?, ? FROM list_blocks`,
      args: [place, bytes],
    }))
    try {
      await this.gate.batch([
        { sql: REPLACED, args: [list, tenantId, after, until] },
        // Another header than null is given only while the rows are the same: null is refused, and everything undone.
        {
          sql: `INSERT INTO list_blocks (list, tenant_id, after_at, until_at, header) SELECT ?1, ?2, ?3, ?4,
            CASE WHEN count(*) = ?5 AND total(seq) = ?6 THEN ?7 END FROM ${list} WHERE tenant_id = ?2 AND ${at} > ?3 AND ${at} <= ?4`,
          args: [list, tenantId, after, until, rows, sum, JSON.stringify(block.header)],
        },
        ...columns,
      ])
      return true
    } catch (error) {
      if (isConstraint(error)) return false
      throw error
    }
  }
}

const REPLACED = 'DELETE FROM list_blocks WHERE list = ? AND tenant_id = ? AND until_at > ? AND until_at <= ?'
