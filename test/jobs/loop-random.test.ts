import { expect, test } from 'bun:test'
import type { JobOutcome } from '../../src/jobs/job.ts'
import { seededRandom } from '../../src/simulator/random.ts'
import type { JobLoop } from '../../src/jobs/loop.ts'
import { type NewJob, Workshop } from './workshop.ts'

const WORLDS = 8
const ROUNDS = 15
/** The longest that a job or its lane waits, unless it throws. */
const LONGEST_MS = 30
const AFTER_FAULT_MS = 1000

// The loop looks once a minute for jobs that it missed. A world lasts for seconds: what runs in it was not missed.
test('whatever comes due while lanes are read, no job that is due is left waiting', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  for (let world = seed; world < seed + WORLDS; world++) await live(world)
}, 60_000)

async function live(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const upTo = (max: number): number => Math.floor(random() * (max + 1))
  let calm = false
  await using shop = await Workshop.open({
    maxInFlight: 1 + upTo(9),
    maxPerLane: 1 + upTo(4),
    maxPrefetched: upTo(1) * upTo(20),
    handle: async (job) => {
      if (random() < 0.3) await new Promise<void>((resolve) => setImmediate(resolve))
      if (random() < 0.1) loop.laneFreed(job.lane, job.tenantId)
      return (calm ? null : unfinished(random(), upTo(LONGEST_MS))) ?? shop.finish(job)
    },
  })
  shop.execute = async (statement) => {
    const result = await shop.gate.execute(statement)
    if (random() < 0.3) shop.clock.advance(upTo(3))
    return result
  }
  const loop = shop.newLoop()
  loop.start()
  for (let round = 0; round < ROUNDS; round++) {
    calm = false
    for (let step = 0; step < 10; step++) {
      const jobs = Array.from({ length: upTo(8) }, (): NewJob => ({ lane: `lane${upTo(3)}`, subject: `s${random()}` }))
      await handIn(shop, loop, jobs, random)
      if (random() < 0.2) loop.laneFreed(`lane${upTo(3)}`, 'tenant_a')
      if (random() < 0.05) loop.freed()
      await shop.settled()
      shop.clock.advance(upTo(LONGEST_MS))
    }
    calm = true
    await shop.settled()
    shop.clock.advance(AFTER_FAULT_MS + 1)
    await shop.settled()
    expect({ seed, round, left: await shop.left() }).toEqual({ seed, round, left: [] })
  }
  await loop.stop()
  expect({ seed, twice: shop.twice }).toEqual({ seed, twice: [] })
}

/** One commit. The loop hears of its jobs in any order, with their subjects or without. */
async function handIn(
  shop: Workshop,
  loop: JobLoop<string>,
  jobs: readonly NewJob[],
  random: () => number,
): Promise<void> {
  for (const job of (await shop.commit(...jobs)).toSorted(() => random() - 0.5)) {
    if (random() < 0.7) loop.prefetched(job, job.subject)
    else loop.dueAfter(job.lane, job.tenantId, 0)
  }
}

/** Null: the job is done. */
function unfinished(draw: number, delayMs: number): JobOutcome | null {
  if (draw < 0.3) return { type: 'snooze', delayMs }
  if (draw < 0.45) return { type: 'wait', delayMs }
  if (draw < 0.46) throw new Error('a fault')
  return draw < 0.5 ? { type: 'reread' } : null
}
