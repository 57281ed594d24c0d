import { expect, test } from 'bun:test'
import type { Job, JobOutcome } from '../../src/jobs/job.ts'
import { Lanes } from '../../src/jobs/lanes.ts'
import type { JobLoop } from '../../src/jobs/loop.ts'
import { Workshop, type WorkshopOptions } from './workshop.ts'

/** Jobs begin in the order of their names and end when they are let go. */
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
    loop.ready(job, job.subject)
  await shop.settled()
}

test('what was handed over begins in its order without being read', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 2, maxReady: 10 })
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

test('what is more than may lie ready is read, in its order', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 1, maxReady: 2 })
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

test('a lane that is held begins again with the one that held it', async () => {
  let refused = 0
  const { shop, held, loop } = await opened({
    maxInFlight: 1,
    maxReady: 10,
    handle: async (job) => {
      if (job.subject === 'a1' && refused++ === 0) return { type: 'hold', delayMs: 1000 }
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

test('a few that wait begin beyond the bound, so that new ones have their places again', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 2, maxUnqueued: 5, maxReady: 10, maxPerLane: 10 })
  await using _shop = shop
  await handOver(shop, loop, 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8')
  expect(held.begun).toHaveLength(5)
  expect(loop.reserve('a', 'tenant_a')).toBeNull()
  // Four wait: as long as they do not fit all of them, no more run than while others wait.
  await held.end('a0', 'a1')
  expect(held.begun).toHaveLength(5)
  await held.end('a2', 'a3')
  expect(held.begun).toHaveLength(9)
  await held.end('a4')
  const place = loop.reserve('a', 'tenant_a')
  expect(place).not.toBeNull()
  place?.cancel()
  await held.end('a5', 'a6', 'a7', 'a8')
  await loop.stop()
})

test('a loop that is stopped keeps nothing: what it does later it reads', async () => {
  await using shop = await Workshop.open({ maxReady: 10 })
  const loop = shop.newLoop()
  const [job] = await shop.commit({ lane: 'a', subject: 'a0' })
  if (job !== undefined) loop.ready(job, 'an older state')
  await shop.gate.execute(`UPDATE jobs SET kind = 'another'`)
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual([])
  await loop.stop()
})

test('what lay ready at a stop is read again after it', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 1, maxReady: 10 })
  await using _shop = shop
  await handOver(shop, loop, 'a0', 'a1', 'a2')
  const stopped = loop.stop()
  await held.end('a0')
  await stopped
  await shop.gate.execute(`UPDATE jobs SET kind = 'another'`)
  loop.start()
  await shop.settled()
  expect(held.begun).toEqual(['a0'])
  await loop.stop()
})

test('a backlog that comes due by its time begins as one that was there at the start', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 2, maxUnqueued: 10, maxPerLane: 10, maxReady: 4 })
  await using _shop = shop
  const subjects = Array.from({ length: 40 }, (_, index) => `a${index}`)
  await shop.commit(...subjects.map((subject) => ({ lane: 'a', subject, inMs: 100 })))
  loop.moved('a', 'tenant_a', 100)
  await shop.settled()
  shop.clock.advance(100)
  await shop.settled()
  expect(held.begun).toEqual(['a0', 'a1'])
  void loop.stop()
  await held.end('a0', 'a1')
})

test('a place that is kept for long in a lane whose time has come wakes nobody, and its end goes on', async () => {
  const { shop, held, loop } = await opened({ maxReady: 4 })
  await using _shop = shop
  loop.moved('a', 'tenant_a', 100)
  await shop.settled()
  const place = loop.reserve('a', 'tenant_a')
  await shop.commit({ lane: 'a', subject: 'a0', inMs: 100 })
  let alarms = 0
  const { after } = shop.clock
  shop.clock.after = (...alarm) => (alarms++, after(...alarm))
  for (let ms = 0; ms < 200; ms++) {
    shop.clock.advance(1)
    await shop.settled()
  }
  expect(alarms).toBeLessThan(5)
  expect(held.begun).toEqual([])
  place?.cancel()
  await shop.settled()
  expect(held.begun).toEqual(['a0'])
  await held.end('a0')
  await loop.stop()
})

test('a lane that was forgotten and made anew is not forgotten again with its first self', () => {
  const lanes = new Lanes()
  const first = lanes.ofNewJob('a', 'tenant_a')
  lanes.dropIfIdle(first)
  const second = lanes.get('a', 'tenant_a')
  lanes.dropIfIdle(first)
  expect([...lanes.all()]).toEqual([second])
  expect(lanes.size).toBe(1)
})

test('a reading takes no more rows because many run', async () => {
  const { shop, held, loop } = await opened({ maxInFlight: 40, maxPerLane: 40, maxReady: 5 })
  await using _shop = shop
  const most = { rows: 0 }
  const { execute } = shop
  shop.execute = async (statement) => {
    const result = await execute(statement)
    most.rows = Math.max(most.rows, result.rows.length)
    return result
  }
  await shop.commit(...Array.from({ length: 200 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.added('a', 'tenant_a')
  await shop.settled()
  expect(held.begun).toHaveLength(40)
  most.rows = 0
  // One ends, and those that lie ready begin; then more are read.
  for (let index = 0; index < 8; index++) await held.end(`a${index}`)
  expect(held.begun).toHaveLength(48)
  expect(most.rows).toBeGreaterThan(0)
  expect(most.rows).toBeLessThanOrEqual(1 + 5)
  await held.end(...Array.from({ length: 200 }, (_, index) => `a${index}`))
  for (let index = 0; index < 200; index++) await held.end(`a${index}`)
  expect(shop.twice).toEqual([])
  await loop.stop()
})
