import { expect, test } from 'bun:test'
import type { Job, JobOutcome } from '../../src/jobs/job.ts'
import { Lanes } from '../../src/jobs/lanes.ts'
import type { JobLoop } from '../../src/jobs/loop.ts'
import { LoopHarness, type LoopHarnessOptions } from './loop-harness.ts'

/** Jobs of this handler end when a test calls `end`. */
class HeldJobs {
  readonly begun: string[] = []
  readonly #ends = new Map<string, () => void>()
  harness!: LoopHarness

  readonly handle = async (job: Job): Promise<JobOutcome> => {
    this.begun.push(job.subject)
    await new Promise<void>((resolve) => this.#ends.set(job.subject, resolve))
    return this.harness.finish(job)
  }

  async end(...subjects: string[]): Promise<void> {
    for (const subject of subjects) this.#ends.get(subject)?.()
    await this.harness.untilIdle()
  }
}

async function opened(
  options: LoopHarnessOptions,
): Promise<{ harness: LoopHarness; held: HeldJobs; loop: JobLoop<string> }> {
  const held = new HeldJobs()
  const harness = await LoopHarness.open({ handle: held.handle, ...options })
  held.harness = harness
  const loop = harness.newLoop()
  loop.start()
  await harness.untilIdle()
  return { harness, held, loop }
}

async function commitAndPrefetch(harness: LoopHarness, loop: JobLoop<string>, ...subjects: string[]): Promise<void> {
  for (const job of await harness.commit(...subjects.map((subject) => ({ lane: 'a', subject }))))
    loop.prefetched(job, job.subject)
  await harness.untilIdle()
}

test('prefetched jobs begin in order, without a query', async () => {
  const { harness, held, loop } = await opened({ maxInFlight: 2, maxPrefetched: 10 })
  await using _harness = harness
  const { calls } = harness
  await commitAndPrefetch(harness, loop, 'a0', 'a1', 'a2', 'a3', 'a4')
  expect(held.begun).toEqual(['a0', 'a1'])
  await held.end('a1')
  await held.end('a0', 'a2')
  expect(held.begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  expect(harness.calls).toBe(calls)
  await held.end('a3', 'a4')
  expect(await harness.left()).toEqual([])
  await loop.stop()
})

test('jobs beyond the limit of prefetched jobs are read in order', async () => {
  const { harness, held, loop } = await opened({ maxInFlight: 1, maxPrefetched: 2 })
  await using _harness = harness
  const subjects = Array.from({ length: 9 }, (_, index) => `a${index}`)
  await commitAndPrefetch(harness, loop, ...subjects)
  const { calls } = harness
  for (const subject of subjects) await held.end(subject)
  expect(held.begun).toEqual(subjects)
  expect(harness.calls - calls).toBeGreaterThan(0)
  expect({ twice: harness.twice, left: await harness.left() }).toEqual({ twice: [], left: [] })
  await loop.stop()
})

test('a waiting lane continues with the job that made it wait', async () => {
  let refused = 0
  const { harness, held, loop } = await opened({
    maxInFlight: 1,
    maxPrefetched: 10,
    handle: async (job) => {
      if (job.subject === 'a1' && refused++ === 0) return { type: 'wait', delayMs: 1000 }
      return held.handle(job)
    },
  })
  await using _harness = harness
  await commitAndPrefetch(harness, loop, 'a0', 'a1', 'a2')
  await held.end('a0')
  expect({ refused, begun: held.begun }).toEqual({ refused: 1, begun: ['a0'] })
  harness.clock.advance(1000)
  await harness.untilIdle()
  await held.end('a1')
  await held.end('a2')
  expect(held.begun).toEqual(['a0', 'a1', 'a2'])
  await loop.stop()
})

test('a stopped loop prefetches nothing and reads its jobs when it starts', async () => {
  await using harness = await LoopHarness.open({ maxPrefetched: 10 })
  const loop = harness.newLoop()
  const [job] = await harness.commit({ lane: 'a', subject: 'a0' })
  if (job !== undefined) loop.prefetched(job, 'an older state')
  await harness.gate.execute(`UPDATE jobs SET kind = 'lookup'`)
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual([])
  await loop.stop()
})

test('jobs that were prefetched before a stop are read again after it', async () => {
  const { harness, held, loop } = await opened({ maxInFlight: 1, maxPrefetched: 10 })
  await using _harness = harness
  await commitAndPrefetch(harness, loop, 'a0', 'a1', 'a2')
  const stopped = loop.stop()
  await held.end('a0')
  await stopped
  await harness.gate.execute(`UPDATE jobs SET kind = 'lookup'`)
  loop.start()
  await harness.untilIdle()
  expect(held.begun).toEqual(['a0'])
  await loop.stop()
})

test('a backlog that becomes due later is processed like a backlog at the start', async () => {
  const { harness, held, loop } = await opened({ maxInFlight: 2, maxPerLane: 10, maxPrefetched: 4 })
  await using _harness = harness
  const subjects = Array.from({ length: 40 }, (_, index) => `a${index}`)
  await harness.commit(...subjects.map((subject) => ({ lane: 'a', subject, inMs: 100 })))
  loop.dueAfter('a', 'tenant_a', 100)
  await harness.untilIdle()
  harness.clock.advance(100)
  await harness.untilIdle()
  expect(held.begun).toEqual(['a0', 'a1'])
  void loop.stop()
  await held.end('a0', 'a1')
})

test('a lane that was dropped and created again is not dropped by its old object', () => {
  const lanes = new Lanes()
  const first = lanes.ofNewJob('a', 'tenant_a')
  lanes.dropIfIdle(first)
  const second = lanes.get('a', 'tenant_a')
  lanes.dropIfIdle(first)
  expect([...lanes.all()]).toEqual([second])
  expect(lanes.size).toBe(1)
})

test('a query does not read more rows if many jobs run', async () => {
  const { harness, held, loop } = await opened({ maxInFlight: 40, maxPerLane: 40, maxPrefetched: 5 })
  await using _harness = harness
  const most = { rows: 0 }
  const { execute } = harness
  harness.execute = async (statement) => {
    const result = await execute(statement)
    most.rows = Math.max(most.rows, result.rows.length)
    return result
  }
  await harness.commit(...Array.from({ length: 200 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.dueAfter('a', 'tenant_a', 0)
  await harness.untilIdle()
  expect(held.begun).toHaveLength(40)
  most.rows = 0
  // When a job ends, a prefetched one begins. Then more jobs are read.
  for (let index = 0; index < 8; index++) await held.end(`a${index}`)
  expect(held.begun).toHaveLength(48)
  expect(most.rows).toBeGreaterThan(0)
  expect(most.rows).toBeLessThanOrEqual(1 + 5)
  await held.end(...Array.from({ length: 200 }, (_, index) => `a${index}`))
  for (let index = 0; index < 200; index++) await held.end(`a${index}`)
  expect(harness.twice).toEqual([])
  await loop.stop()
})
