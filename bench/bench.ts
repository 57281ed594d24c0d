import type { Source } from './gateway/source.ts'

/** One row of a bench's table: names and figures. */
export type Row = Record<string, string | number>

export interface BenchOptions {
  /** The working copy first, then each commit of `--against`. */
  sources: readonly [Source, ...Source[]]
  /** How often the contestants take turns. Figures are medians. */
  rounds: number
  /** Runs for a quarter of the time, to check that a bench works. Its figures are inexact. */
  short: boolean
  /** Runs `memory` with a million sends. */
  long: boolean
}

export interface Bench {
  name: string
  run(options: BenchOptions): Promise<Row[]>
}

/** Scales a duration or a count of a bench to this run. */
export const shortened = ({ short }: BenchOptions, figure: number): number => (short ? figure / 4 : figure)
