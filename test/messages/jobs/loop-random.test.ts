import { expect, test } from 'bun:test'
import type { JobOutcome } from '../../../src/messages/jobs/job.ts'
import { seededRandom } from '../../../src/simulator/random.ts'
import type { JobLoop } from '../../../src/messages/jobs/loop.ts'
import { type NewJob, LoopHarness } from './loop-harness.ts'

const RUNS = 8
const ROUNDS = 15
/** The longest wait of a job or its lane, unless the job throws. */
const LONGEST_MS = 30
const AFTER_FAULT_MS = 1000

// The loop searches for missed jobs once a minute. A run lasts for seconds, so the loop must miss none.
test('in random runs, every due job runs, and none twice', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  for (let world = seed; world < seed + RUNS; world++) await runRandomJobs(world)
}, 60_000)

async function runRandomJobs(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const upTo = (max: number): number => Math.floor(random() * (max + 1))
  let calm = false
  await using harness = await LoopHarness.open({
    maxInFlight: 1 + upTo(9),
    maxPerLane: 1 + upTo(4),
    keyOf: (subject) => ({ name: `key ${subject.at(-1)}`, max: 2 }),
    handle: async (job) => {
      if (random() < 0.3) await new Promise<void>((resolve) => setImmediate(resolve))
      if (random() < 0.1) loop.tenantFreed(job.tenantId)
      return (calm ? null : unfinished(random(), upTo(LONGEST_MS))) ?? harness.finish(job)
    },
  })
  harness.execute = async (statement) => {
    const result = await harness.gate.execute(statement)
    if (random() < 0.3) harness.clock.advance(upTo(3))
    return result
  }
  const loop = harness.newLoop()
  loop.start()
  for (let round = 0; round < ROUNDS; round++) {
    calm = false
    for (let step = 0; step < 10; step++) {
      const jobs = Array.from({ length: upTo(8) }, (): NewJob => ({ lane: `lane${upTo(3)}`, subject: `s${random()}` }))
      await submit(harness, loop, jobs, random)
      if (random() < 0.2) loop.tenantFreed('tenant_a')
      await harness.untilIdle()
      harness.clock.advance(upTo(LONGEST_MS))
    }
    calm = true
    await harness.untilIdle()
    harness.clock.advance(AFTER_FAULT_MS + 1)
    await harness.untilIdle()
    expect({ seed, round, left: await harness.left() }).toEqual({ seed, round, left: [] })
  }
  await loop.stop()
  expect({ seed, twice: harness.twice }).toEqual({ seed, twice: [] })
}

/** Commits jobs and reports them to the loop in any order, some of them once for all of a lane. */
async function submit(
  harness: LoopHarness,
  loop: JobLoop<string>,
  jobs: readonly NewJob[],
  random: () => number,
): Promise<void> {
  const committed = (await harness.commit(...jobs)).toSorted(() => random() - 0.5)
  const lanes = committed.map(({ lane }) => lane)
  for (const lane of random() < 0.5 ? lanes : new Set(lanes)) loop.wake(lane, 'tenant_a', 0)
}

/** Returns the outcome of a run, or null if the job is done. */
function unfinished(draw: number, delayMs: number): JobOutcome | null {
  if (draw < 0.3) return { type: 'snooze', delayMs }
  if (draw < 0.45) return { type: 'wait', delayMs }
  if (draw < 0.46) throw new Error('a fault')
  return draw < 0.5 ? { type: 'wait', delayMs: 0 } : null
}
