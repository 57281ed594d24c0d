import { expect, test } from 'bun:test'
import type { Job, JobOutcome } from '../../src/jobs/job.ts'
import { Lanes } from '../../src/jobs/lanes.ts'
import type { JobLoop } from '../../src/jobs/loop.ts'
import { Workshop, type WorkshopOptions } from './workshop.ts'

/** Jobs begin in the order of their names and end when the test says so. */
class Held {
  readonly begun: string[] = []
  readonly #ends = new Map<string, () => void>()
  shop!: Workshop

  readonly handle = async (job: Job): Promise<JobOutcome> => {
    this.begun.push(job.subject)
    await new Promise<void>((resolve) => this.#ends.set(job.subject, resolve))
    return this.shop.finish(job)
  }

  async end(...subjects: string[]): Promise<void> {
    for (const subject of subjects) this.#ends.get(subject)?.()
    await this.shop.settled()
  }
}

async function opened(options: WorkshopOptions): Promise<{ shop: Workshop; held: Held; loop: JobLoop<string> }> {
  const held = new Held()
  const shop = await Workshop.open({ handle: held.handle, ...options })
  held.shop = shop
  const loop = shop.newLoop()
  loop.start()
  await shop.settled()
  return { shop, held, loop }
}

async function handOver(shop: Workshop, loop: JobLoop<string>, ...subjects: string[]): Promise<void> {
  for (const job of await shop.commit(...subjects.map((subject) => ({ lane: 'a', subject }))))
    loop.prefetched(job, job.subject)
  await shop.settled()
}

test('jobs that are handed over begin in their order, without a query', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 2, maxPrefetched: 10 })
  await using _shop = shop
  const { calls } = shop
  await handOver(shop, loop, 'a0', 'a1', 'a2', 'a3', 'a4')
  expect(held.begun).toEqual(['a0', 'a1'])
  await held.end('a1')
  await held.end('a0', 'a2')
  expect(held.begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  expect(shop.calls).toBe(calls)
  await held.end('a3', 'a4')
  expect(await shop.left()).toEqual([])
  await loop.stop()
})

test('jobs beyond those that may be prefetched are read, in their order', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 1, maxPrefetched: 2 })
  await using _shop = shop
  const subjects = Array.from({ length: 9 }, (_, index) => `a${index}`)
  await handOver(shop, loop, ...subjects)
  const { calls } = shop
  for (const subject of subjects) await held.end(subject)
  expect(held.begun).toEqual(subjects)
  expect(shop.calls - calls).toBeGreaterThan(0)
  expect({ twice: shop.twice, left: await shop.left() }).toEqual({ twice: [], left: [] })
  await loop.stop()
})

test('a lane that waits begins again with the job that made it wait', async () => {
  let refused = 0
  const { shop, held, loop } = await opened({
    maxInFlight: 1,
    maxPrefetched: 10,
    handle: async (job) => {
      if (job.subject === 'a1' && refused++ === 0) return { type: 'wait', delayMs: 1000 }
      return held.handle(job)
    },
  })
  await using _shop = shop
  await handOver(shop, loop, 'a0', 'a1', 'a2')
  await held.end('a0')
  expect({ refused, begun: held.begun }).toEqual({ refused: 1, begun: ['a0'] })
  shop.clock.advance(1000)
  await shop.settled()
  await held.end('a1')
  await held.end('a2')
  expect(held.begun).toEqual(['a0', 'a1', 'a2'])
  await loop.stop()
})

test('a stopped loop prefetches nothing: it reads its jobs when it starts', async () => {
  await using shop = await Workshop.open({ maxPrefetched: 10 })
  const loop = shop.newLoop()
  const [job] = await shop.commit({ lane: 'a', subject: 'a0' })
  if (job !== undefined) loop.prefetched(job, 'an older state')
  await shop.gate.execute(`UPDATE jobs SET kind = 'lookup'`)
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual([])
  await loop.stop()
})

test('jobs that were prefetched before a stop are read again after it', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 1, maxPrefetched: 10 })
  await using _shop = shop
  await handOver(shop, loop, 'a0', 'a1', 'a2')
  const stopped = loop.stop()
  await held.end('a0')
  await stopped
  await shop.gate.execute(`UPDATE jobs SET kind = 'lookup'`)
  loop.start()
  await shop.settled()
  expect(held.begun).toEqual(['a0'])
  await loop.stop()
})

test('a backlog that comes due by its time begins as one that was there at the start', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 2, maxPerLane: 10, maxPrefetched: 4 })
  await using _shop = shop
  const subjects = Array.from({ length: 40 }, (_, index) => `a${index}`)
  await shop.commit(...subjects.map((subject) => ({ lane: 'a', subject, inMs: 100 })))
  loop.dueAfter('a', 'tenant_a', 100)
  await shop.settled()
  shop.clock.advance(100)
  await shop.settled()
  expect(held.begun).toEqual(['a0', 'a1'])
  void loop.stop()
  await held.end('a0', 'a1')
})

test('a lane that was dropped and made anew is not dropped through its first object', () => {
  const lanes = new Lanes()
  const first = lanes.ofNewJob('a', 'tenant_a')
  lanes.dropIfIdle(first)
  const second = lanes.get('a', 'tenant_a')
  lanes.dropIfIdle(first)
  expect([...lanes.all()]).toEqual([second])
  expect(lanes.size).toBe(1)
})

test('a query reads no more rows because many jobs run', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 40, maxPerLane: 40, maxPrefetched: 5 })
  await using _shop = shop
  const most = { rows: 0 }
  const { execute } = shop
  shop.execute = async (statement) => {
    const result = await execute(statement)
    most.rows = Math.max(most.rows, result.rows.length)
    return result
  }
  await shop.commit(...Array.from({ length: 200 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.dueAfter('a', 'tenant_a', 0)
  await shop.settled()
  expect(held.begun).toHaveLength(40)
  most.rows = 0
  // One ends and a prefetched one begins; then more are read.
  for (let index = 0; index < 8; index++) await held.end(`a${index}`)
  expect(held.begun).toHaveLength(48)
  expect(most.rows).toBeGreaterThan(0)
  expect(most.rows).toBeLessThanOrEqual(1 + 5)
  await held.end(...Array.from({ length: 200 }, (_, index) => `a${index}`))
  for (let index = 0; index < 200; index++) await held.end(`a${index}`)
  expect(shop.twice).toEqual([])
  await loop.stop()
})
