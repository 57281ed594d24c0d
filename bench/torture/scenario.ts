import type { Findings } from './inspection.ts'

export interface ScenarioOptions {
  /** The number of kills, SIGTERMs or restores. */
  kills: number
  seed: number
  /** Returns numbers in [0, 1), derived from the seed. */
  random: () => number
  /** Prints progress. */
  report: (line: string) => void
}

export type Scenario = (options: ScenarioOptions) => Promise<Findings>

/** A random number between `low` and `high`. */
export const between = (random: () => number, low: number, high: number): number => low + random() * (high - low)
