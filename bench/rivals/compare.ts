import { alternate, median } from '../support/alternate.ts'
import { slowFlush } from '../support/slow-flush.ts'
import type { Circumstances, Contestant, Running } from './contestant.ts'

export interface Entry {
  contestant: Contestant
  /** On a disk whose flushes take 2 ms longer. */
  slowDisk?: boolean
}

type Start = (circumstances: Omit<Circumstances, 'env'>) => Promise<Running>

/** One turn of one contestant: starts it, measures it and ends it, so that it does not run beside the next one. */
export type Turn<Figure extends string> = (start: Start) => Promise<Record<Figure, number>>

type Figures<Figure extends string> = readonly [Figure, ...Figure[]]

export interface Outcome<Figure extends string> {
  name: string
  contestant: string
  slowDisk: boolean
  /** Medians of all rounds, or NaN if the contestant did not run. */
  figures: Record<Figure, number>
  /** The lowest and highest value of the first figure. They are far apart if something else disturbed a round. */
  range: [number, number]
  /** Why the contestant did not run, or how often it flushed. */
  note: string
}

/** Long enough for the work that follows the start, and for the end of the previous contestant. */
const QUIET_DOWN_MS = 500
const FLUSH_DELAY_MS = 2
const SLOW_DISK = `+${FLUSH_DELAY_MS} ms a flush`

/** Runs all entries in turn. */
export async function compare<Figure extends string>(
  rounds: number,
  entries: readonly Entry[],
  figures: Figures<Figure>,
  turn: Turn<Figure>,
  quietDownMs = QUIET_DOWN_MS,
): Promise<Outcome<Figure>[]> {
  const matches = entries.map((entry) => new Match(entry, figures, turn, quietDownMs))
  await alternate(rounds, Object.fromEntries(matches.map((match) => [match.name, () => match.play()])))
  return matches.map((match) => match.outcome())
}

/** Runs one entry through all rounds. */
class Match<Figure extends string> {
  readonly name: string
  readonly #seen: Record<Figure, number>[] = []
  #note = ''

  constructor(
    readonly entry: Entry,
    readonly figures: Figures<Figure>,
    readonly turn: Turn<Figure>,
    readonly quietDownMs: number,
  ) {
    this.name = `${entry.contestant.name}${entry.slowDisk === true ? `, ${SLOW_DISK}` : ''}`
    const missing = entry.contestant.missing()
    if (missing !== null) this.#note = `not installed: ${missing}`
  }

  /** A contestant that fails is left out of later rounds, and its row says why. The others continue. */
  async play(): Promise<number> {
    if (this.#seen.length === 0 && this.#note !== '') return Number.NaN
    try {
      const seen = await this.#playOnce()
      if (seen !== null) this.#seen.push(seen)
      return seen?.[this.figures[0]] ?? Number.NaN
    } catch (error) {
      this.#note = error instanceof Error ? error.message : String(error)
      return Number.NaN
    }
  }

  outcome(): Outcome<Figure> {
    const all = (name: Figure): number[] => this.#seen.map((seen) => seen[name])
    const first = all(this.figures[0])
    return {
      name: this.name,
      contestant: this.entry.contestant.name,
      slowDisk: this.entry.slowDisk === true,
      figures: Object.fromEntries(this.figures.map((name) => [name, median(all(name))])) as Record<Figure, number>,
      range: [Math.min(...first), Math.max(...first)],
      note: this.#note,
    }
  }

  async #playOnce(): Promise<Record<Figure, number> | null> {
    if (this.entry.slowDisk !== true) return this.turn(this.#startWith({}))
    using disk = slowFlush(FLUSH_DELAY_MS)
    if (disk === null) return ((this.#note = 'no C compiler for the slower flush'), null)
    const seen = await this.turn(this.#startWith(disk.env))
    this.#note = `${disk.count()} flushes a turn`
    return seen
  }

  #startWith(env: Record<string, string>): Start {
    return async (circumstances) => {
      const running = await this.entry.contestant.start({ ...circumstances, env })
      await Bun.sleep(this.quietDownMs)
      return running
    }
  }
}
