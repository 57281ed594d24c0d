import { expect, test } from 'bun:test'
import type { JobOutcome } from '../../src/jobs/job.ts'
import { seededRandom } from '../../src/simulator/random.ts'
import type { JobLoop } from '../../src/jobs/loop.ts'
import type { Reservation } from '../../src/jobs/reservation.ts'
import { type NewJob, Workshop } from './workshop.ts'

const WORLDS = 25
const ROUNDS = 15
/** The longest that a job or its lane is put off. */
const LONGEST_MS = 30

// The loop looks once a minute for jobs that it missed. A world lasts for seconds: what runs in it was not missed.
test('whatever comes due while whatever is read, nothing that is due is left waiting', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  for (let world = seed; world < seed + WORLDS; world++) await live(world)
}, 60_000)

async function live(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const upTo = (max: number): number => Math.floor(random() * (max + 1))
  let calm = false
  const maxInFlight = 1 + upTo(9)
  await using shop = await Workshop.open({
    maxInFlight,
    maxPerLane: 1 + upTo(4),
    maxReady: upTo(1) * upTo(20),
    maxUnqueued: maxInFlight + upTo(1) * upTo(10),
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
      if (random() < 0.05) loop.release()
      await shop.settled()
      shop.clock.advance(upTo(LONGEST_MS))
    }
    calm = true
    await shop.settled()
    shop.clock.advance(LONGEST_MS + 1)
    await shop.settled()
    expect({ seed, round, left: await shop.left() }).toEqual({ seed, round, left: [] })
  }
  await loop.stop()
  expect({ seed, twice: shop.twice }).toEqual({ seed, twice: [] })
}

/** In one commit, as messages are accepted: some have a place already, and who hears first of the commit is open. */
async function handIn(
  shop: Workshop,
  loop: JobLoop<string>,
  jobs: readonly NewJob[],
  random: () => number,
): Promise<void> {
  const places = new Map<string, Reservation | null>()
  for (const { lane, subject } of jobs) {
    places.set(subject, random() < 0.6 ? loop.reserve(lane, 'tenant_a') : null)
    if (random() < 0.5) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const committed = await shop.commit(...jobs.toSorted(() => random() - 0.5))
  for (const job of committed.toSorted(() => random() - 0.5)) {
    const place = places.get(job.subject)
    if (place && random() < 0.9) place.begin(job, () => shop.kind().run(job, job.subject))
    else {
      place?.cancel()
      loop.ready(job, job.subject)
    }
  }
}

/** Null: the job is done. */
function unfinished(draw: number, delayMs: number): JobOutcome | null {
  if (draw < 0.3) return { type: 'snooze', delayMs }
  if (draw < 0.45) return { type: 'wait', delayMs }
  if (draw < 0.47) return { type: 'fault', delayMs }
  return draw < 0.5 ? { type: 'hold', delayMs } : null
}
