import { type Profile, profileOf } from './scenario.ts'
import { type SeedResult, runSeed } from './simulation.ts'
import { type Stage, type Weakening, openStage } from './stage.ts'

export interface Batch {
  seeds: number
  /** The first seed that went wrong, with its log. */
  failure: SeedResult | null
}

export interface BatchOptions {
  weakening?: Weakening
  profile?: Profile
  /** Called with each seed's result. */
  seen?(result: SeedResult): void
}

/** Runs seeds one after the other until one goes wrong; that one is run again with its log. */
export async function runBatch(seeds: Iterable<number>, options: BatchOptions = {}): Promise<Batch> {
  const restore = options.weakening?.patch?.()
  try {
    return await runSeeds(seeds, options, await openStage(options.weakening))
  } finally {
    restore?.()
  }
}

async function runSeeds(seeds: Iterable<number>, options: BatchOptions, stage: Stage): Promise<Batch> {
  let done = 0
  for (const seed of seeds) {
    // Each seed in a turn of its own: what the native binding has finished with is freed between turns only.
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

/** One seed with its log. */
export async function runLogged(seed: number): Promise<SeedResult> {
  const stage = await openStage()
  return outsidePromises(() => runSeed(stage, seed, { profile: profileOf(seed), logging: true }))
}

/** What a person needs to see of a seed that went wrong. */
export function report({ seed, violation, log }: SeedResult): string {
  return [
    ...log,
    `seed ${seed}: ${violation ?? 'nothing went wrong'}`,
    `again: SIM_SEED=${seed} bun test test/simulation`,
  ].join('\n')
}

/** A simulation runs the promises of its own gateway, which cannot be done from inside of one. */
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
