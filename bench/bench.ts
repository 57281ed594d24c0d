import type { Source } from './gateway/source.ts'

/** One line of a bench's table: names and figures. */
export type Row = Record<string, string | number>

export interface BenchOptions {
  /** Our own first, then each commit of `--against`. */
  sources: readonly [Source, ...Source[]]
  /** How often the contestants take turns; figures are medians. */
  rounds: number
  /** A quarter of the time: proves that the bench works, its figures mean little. */
  short: boolean
  /** Goes on where a floor is about a million sends. */
  long: boolean
}

export interface Bench {
  name: string
  run(options: BenchOptions): Promise<Row[]>
}

/** A duration or a count of a bench, as this run has it. */
export const shortened = ({ short }: BenchOptions, figure: number): number => (short ? figure / 4 : figure)
