import type { Findings } from './inspection.ts'

export interface ScenarioOptions {
  /** How many kills (or SIGTERMs, or restores). */
  kills: number
  seed: number
  /** Numbers in [0, 1), from the seed. */
  random: () => number
  /** What happens, for a person who waits. */
  tell: (line: string) => void
}

export type Scenario = (options: ScenarioOptions) => Promise<Findings>

/** A number between the two, from the scenario's own random stream. */
export const between = (random: () => number, low: number, high: number): number => low + random() * (high - low)
