import { type Clock, systemClock } from '../../core/clock.ts'
import { type Log, errorName } from '../../core/log.ts'
import { type Gate, isConstraint } from '../gate.ts'
import { PLACES } from './block.ts'
import type { EncodedBlock } from './encode.ts'
import type { Reader } from './reader.ts'
import { SMALL_BLOCK_ROWS, type Plan } from './seal.ts'

const PAUSE_MS = 3000
const PAUSE_BETWEEN_BLOCKS_MS = 5
/** More writes than this within a pause are a crowd: some 2,000 a second. */
export const CROWD_WRITES = 6000
/** Even in a crowd: some 250,000 messages, for which a list outside of blocks takes up to a second of the reader thread. */
export const MOST_WRITES = 500_000

/**
 * Stores what the reader builds. It works after many writes, or when a query met many rows outside of blocks. In a crowd it
 * waits until that is over or somebody lists: it would take a tenth of the crowd's time.
 */
export class Sealer {
  private writes = 0
  private writesAtLook = 0
  /** A query met many rows outside of blocks. */
  private isWanted = false
  private cancelLook: (() => void) | null = null
  private running: Promise<void> = Promise.resolve()
  private isStopped = false

  constructor(
    private readonly gate: Gate,
    private readonly reader: Reader,
    private readonly log: Log,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Rows were handed to the writer. */
  noteWrite(): void {
    if (++this.writes >= SMALL_BLOCK_ROWS) this.lookLater()
  }

  wake(): void {
    this.isWanted = true
    this.lookLater()
  }

  async stop(): Promise<void> {
    this.isStopped = true
    this.cancelLook?.()
    await this.running
  }

  private lookLater(): void {
    if (this.isStopped || this.cancelLook !== null) return
    this.writesAtLook = this.writes
    this.cancelLook = this.clock.after(PAUSE_MS, () => this.look())
  }

  private look(): void {
    const isCrowd = this.writes - this.writesAtLook > CROWD_WRITES
    if (isCrowd && !this.isWanted && this.writes < MOST_WRITES) return this.nextLook()
    this.running = this.run().catch((error: unknown) => this.complain(error))
    void this.running.then(() => this.nextLook())
  }

  private nextLook(): void {
    this.cancelLook = null
    if (this.isWanted || this.writes >= SMALL_BLOCK_ROWS) this.lookLater()
  }

  /**
   * Whatever comes meanwhile is left to the next run: in a crowd that somebody lists there would be no end. One time for all of it: a block that was
   * built before its plan, as a clock that is set back has it, would be stale at once.
   */
  private async run(): Promise<void> {
    this.writes = 0
    this.isWanted = false
    const now = this.clock.now()
    for (let isFirst = true; !this.isStopped; isFirst = false) {
      const plan = await this.reader.plan(now, isFirst)
      const guards = plan === null ? null : await this.guard(plan)
      if (plan === null || guards === null) return
      if (!(await this.store(plan, guards, await this.reader.build(plan, now)))) return
      await Bun.sleep(PAUSE_BETWEEN_BLOCKS_MS)
    }
  }

  private complain(error: unknown): void {
    if (!this.isStopped)
      this.log.warn({ error: errorName(error) }, 'rows could not be summed up: long lists are right, but slow')
  }

  /**
   * From now on triggers take away a block, and be it an empty one, if a row of the stretch is changed. Null when those
   * that it was planned for are gone already.
   */
  private async guard({ list, tenantId, after, until }: Plan): Promise<Guards | null> {
    const args = [list, tenantId, after, until]
    const [, , guards] = await this.gate.batch([
      RELEASE,
      {
        sql: `INSERT INTO list_blocks (id, list, tenant_id, after_at, until_at, header)
          SELECT ${GUARD}, ?1, ?2, ?3, ?4, '{}' WHERE NOT EXISTS (SELECT 1 ${GUARDS})`,
        args,
      },
      { sql: `SELECT count(*) AS count, total(id) AS sum, total(until_at - after_at) AS span ${GUARDS}`, args },
    ])
    const { count, sum, span } = guards?.rows[0] ?? {}
    return Number(span) === until - after ? { count: Number(count), sum: Number(sum) } : null
  }

  /** False when a row has changed since the guards were set: the block is built anew another time. */
  private async store({ list, tenantId, after, until }: Plan, guards: Guards, block: EncodedBlock): Promise<boolean> {
    const columns = block.columns.map(([place, bytes]) => ({
      sql: `INSERT INTO list_block_columns (id, data) SELECT max(id) * ${PLACES} + ?, ? FROM list_blocks`,
      args: [place, bytes],
    }))
    const args = [list, tenantId, after, until]
    try {
      await this.gate.batch([
        // Another header than null is given only while the guards are there: null is refused, and everything undone.
        {
          sql: `INSERT INTO list_blocks (id, list, tenant_id, after_at, until_at, header)
            SELECT ${PROBE}, ?1, ?2, -1, -1, CASE WHEN count(*) = ?5 AND total(id) = ?6 THEN '{}' END ${GUARDS}`,
          args: [...args, guards.count, guards.sum],
        },
        RELEASE,
        { sql: `DELETE ${GUARDS}`, args },
        {
          sql: 'INSERT INTO list_blocks (list, tenant_id, after_at, until_at, header) VALUES (?, ?, ?, ?, ?)',
          args: [...args, JSON.stringify(block.header)],
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

/** The blocks that stand for a stretch while it is built: those that are replaced, or an empty one. */
interface Guards {
  count: number
  sum: number
}

const GUARDS = 'FROM list_blocks WHERE list = ?1 AND tenant_id = ?2 AND until_at > ?3 AND until_at <= ?4'
/** Ids below zero: no reader takes them for blocks. */
const GUARD = -1
const PROBE = -2
const RELEASE = 'DELETE FROM list_blocks WHERE id < 0'
