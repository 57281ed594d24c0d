import { type Clock, systemClock } from '../../core/clock.ts'
import { type Log, errorName } from '../../core/log.ts'
import type { Gate } from '../gate.ts'
import { MIN_SEGMENT_ROWS } from './plan.ts'
import type { ListReader } from './reader.ts'
import { beginSegment, finishSegment } from './segment-writer.ts'

const PAUSE_MS = 3000
const PAUSE_BETWEEN_SEGMENTS_MS = 5
/** More writes than this within a pause are high load: some 2,000 a second. */
export const HIGH_LOAD_WRITES = 6000
/** After this many writes the compactor runs even under high load: a list of their 250,000 messages takes the reader thread up to a second. */
export const MAX_DEFERRED_WRITES = 500_000

/**
 * Stores the segments that the reader thread builds. It runs after many writes, or after a query has read many rows outside of
 * segments. Under high load, where its runs would take a tenth of the time, it waits until the load is over or a list is read.
 */
export class Compactor {
  #writes = 0
  #writesAtSchedule = 0
  /** A query has read many rows outside of segments. */
  #isWanted = false
  #cancelCheck: (() => void) | null = null
  /** Resolves when the run under way has ended. */
  running: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(
    readonly gate: Gate,
    readonly reader: ListReader,
    readonly log: Log,
    readonly clock: Clock = systemClock,
  ) {}

  /** Call for each write. */
  noteWrite(): void {
    if (++this.#writes >= MIN_SEGMENT_ROWS) this.#schedule()
  }

  /** Plans a run even under high load. */
  wake(): void {
    this.#isWanted = true
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelCheck?.()
    await this.running
  }

  #schedule(): void {
    if (this.#isStopped || this.#cancelCheck !== null) return
    this.#writesAtSchedule = this.#writes
    this.#cancelCheck = this.clock.after(PAUSE_MS, () => this.#check())
  }

  #check(): void {
    const isHighLoad = this.#writes - this.#writesAtSchedule > HIGH_LOAD_WRITES
    if (isHighLoad && !this.#isWanted && this.#writes < MAX_DEFERRED_WRITES) return this.#scheduleNext()
    this.running = this.#run().catch((error: unknown) => this.#complain(error))
    void this.running.then(() => this.#scheduleNext())
  }

  #scheduleNext(): void {
    this.#cancelCheck = null
    if (this.#isWanted || this.#writes >= MIN_SEGMENT_ROWS) this.#schedule()
  }

  /** Compacts the rows that existed when it began: with lists being read under high load, it would not end otherwise. */
  async #run(): Promise<void> {
    this.#writes = 0
    this.#isWanted = false
    const now = this.clock.now()
    for (let isFirst = true; !this.#isStopped; isFirst = false) {
      const plan = await this.reader.plan(now, isFirst)
      if (plan === null) return
      const id = await beginSegment(this.gate, plan)
      // The range has changed meanwhile. A later run builds it again.
      if (!(await finishSegment(this.gate, id, await this.reader.build(plan)))) return
      await Bun.sleep(PAUSE_BETWEEN_SEGMENTS_MS)
    }
  }

  #complain(error: unknown): void {
    if (!this.#isStopped)
      this.log.warn({ error: errorName(error) }, 'rows could not be compacted: long lists are correct, but slow')
  }
}
