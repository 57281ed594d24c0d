import { type Profile, profileOf } from './scenario.ts'
import { type SeedResult, runSeed } from './simulation.ts'
import { type SimulationStage, type Weakening, openStage } from './stage.ts'

export interface Batch {
  seeds: number
  /** The first failed seed, with its log. */
  failure: SeedResult | null
}

export interface BatchOptions {
  weakening?: Weakening
  profile?: Profile
  /** Called with each seed's result. */
  seen?(result: SeedResult): void
}

/** Runs seeds until one fails, and runs that one again with its log. */
export async function runBatch(seeds: Iterable<number>, options: BatchOptions = {}): Promise<Batch> {
  const restore = options.weakening?.patch?.()
  try {
    return await runSeeds(seeds, options, await openStage(options.weakening))
  } finally {
    restore?.()
  }
}

async function runSeeds(seeds: Iterable<number>, options: BatchOptions, stage: SimulationStage): Promise<Batch> {
  let done = 0
  for (const seed of seeds) {
    // Each seed has a turn of its own, because the native binding frees memory only between turns.
    const result = await outsidePromises(() => runSeed(stage, seed, { profile: options.profile ?? profileOf(seed) }))
    done++
    options.seen?.(result)
    if (result.violation !== null) {
      return {
        seeds: done,
        failure: await outsidePromises(() =>
          runSeed(stage, seed, { profile: options.profile ?? profileOf(seed), logging: true }),
        ),
      }
    }
  }
  return { seeds: done, failure: null }
}

/** Runs one seed with its log. */
export async function runLogged(seed: number): Promise<SeedResult> {
  const stage = await openStage()
  return outsidePromises(() => runSeed(stage, seed, { profile: profileOf(seed), logging: true }))
}

/** Formats a failed seed for people. */
export function report({ seed, violation, log }: SeedResult): string {
  return [
    ...log,
    `seed ${seed}: ${violation ?? 'nothing went wrong'}`,
    `again: SIM_SEED=${seed} bun test test/simulation`,
  ].join('\n')
}

/** Runs a function outside promises, because a simulation runs the promises of its gateway itself. */
function outsidePromises<T>(run: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(run())
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
  })
}
