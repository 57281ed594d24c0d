import { expect, test } from 'bun:test'
import { Workshop } from './workshop.ts'

test('a job that throws waits a second, also if its lane was freed while it ran', async () => {
  await using shop = await Workshop.open({
    handle: () => {
      loop.laneFreed('a', 'tenant_a')
      throw new Error('the disk is full')
    },
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual(['a0'])
  shop.clock.advance(1000)
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'a0'])
  await loop.stop()
})

test('the second that a job waits after it threw is not shortened when its lane is freed', async () => {
  await using shop = await Workshop.open({
    handle: () => {
      throw new Error('the disk is full')
    },
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'broken', subject: 'b0' })
  loop.start()
  await shop.settled()
  loop.laneFreed('broken', 'tenant_a')
  loop.freed()
  await shop.settled()
  expect(shop.ran).toEqual(['b0'])
  shop.clock.advance(1000)
  await shop.settled()
  expect(shop.ran).toEqual(['b0', 'b0'])
  await loop.stop()
})

/** Lane `a` has jobs that wait until `go` is called; lane `b` has none. */
async function waiting(): Promise<{ shop: Workshop; loop: ReturnType<Workshop['newLoop']>; go: () => void }> {
  let isFull = true
  const shop = await Workshop.open({
    maxPrefetched: 20,
    maxPerLane: 2,
    handle: (job) => (isFull && job.lane === 'a' ? { type: 'wait', delayMs: 5000 } : shop.finish(job)),
  })
  const loop = shop.newLoop()
  await shop.commit(...['a0', 'a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject })), {
    lane: 'b',
    subject: 'b0',
  })
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'a1', 'b0'])
  return { shop, loop, go: () => (isFull = false) }
}

test('jobs that wait go on when their lane is freed, in their order, without a query', async () => {
  const { shop, loop, go } = await waiting()
  await using _shop = shop
  shop.clock.advance(4999)
  await shop.settled()
  expect(shop.ran).toHaveLength(3)
  go()
  const { calls } = shop
  const read: unknown[] = []
  const { execute } = shop
  shop.execute = (statement) => (read.push(statement), execute(statement))
  loop.laneFreed('a', 'tenant_a')
  await shop.untilRan(7)
  expect(shop.ran.slice(3)).toEqual(['a0', 'a1', 'a2', 'a3'])
  expect({ calls: shop.calls, read }).toEqual({ calls, read: [] })
  expect(await shop.left()).toEqual([])
  await loop.stop()
})

test('jobs that wait go on after their time in any case', async () => {
  const { shop, loop, go } = await waiting()
  await using _shop = shop
  go()
  shop.clock.advance(5000)
  await shop.untilRan(7)
  expect(shop.ran.slice(3)).toEqual(['a0', 'a1', 'a2', 'a3'])
  await loop.stop()
})

test('a lane that is freed before its job says "wait" does not wait', async () => {
  const asked = Promise.withResolvers<void>()
  await using shop = await Workshop.open({
    handle: async (job) => {
      if (shop.ran.length > 1) return shop.finish(job)
      await asked.promise
      return { type: 'wait', delayMs: 5000 }
    },
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await shop.settled()
  loop.laneFreed('a', 'tenant_a')
  asked.resolve()
  await shop.untilRan(2)
  expect(await shop.left()).toEqual([])
  await loop.stop()
})

test('a job that waits in a lane that is rewound meanwhile runs once', async () => {
  const asked = Promise.withResolvers<void>()
  await using shop = await Workshop.open({
    maxPrefetched: 20,
    handle: async (job) => {
      if (shop.ran.length > 2) return shop.finish(job)
      if (job.subject === 'a1') return { type: 'reread' }
      await asked.promise
      return { type: 'wait', delayMs: 10 }
    },
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await shop.settled()
  asked.resolve()
  await shop.settled()
  shop.clock.advance(10)
  await shop.untilRan(4)
  await shop.settled()
  expect(shop.ran.toSorted()).toEqual(['a0', 'a0', 'a1', 'a1'])
  expect(shop.twice).toEqual([])
  expect(await shop.left()).toEqual([])
  await loop.stop()
})

test('a lane that waits keeps its order; others go on', async () => {
  let held = true
  await using shop = await Workshop.open({
    maxPerLane: 1,
    handle: (job) => (job.subject === 'a0' && held ? { type: 'wait', delayMs: 5000 } : shop.finish(job)),
  })
  const loop = shop.newLoop()
  await shop.commit(...['a0', 'a1', 'a2'].map((subject) => ({ lane: 'a', subject })), { lane: 'b', subject: 'b0' })
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'b0'])
  shop.clock.advance(4999)
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'b0'])
  held = false
  shop.clock.advance(1)
  await shop.untilRan(5)
  expect(shop.ran.slice(2)).toEqual(['a0', 'a1', 'a2'])
  await loop.stop()
})

test('no later job of a lane passes the one that waits', async () => {
  let held = true
  await using shop = await Workshop.open({
    maxInFlight: 4,
    maxPerLane: 4,
    handle: async (job) => {
      if (job.subject === 'a1' && held) return { type: 'wait', delayMs: 1000 }
      await Bun.sleep(2)
      return shop.finish(job)
    },
  })
  const loop = shop.newLoop()
  await shop.commit(...Array.from({ length: 12 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.start()
  await shop.untilRan(4)
  await Bun.sleep(20)
  expect(shop.ran).toEqual(['a0', 'a1', 'a2', 'a3'])
  held = false
  shop.clock.advance(1000)
  await shop.untilRan(13)
  expect(shop.ran.slice(4)).toEqual(['a1', ...Array.from({ length: 8 }, (_, index) => `a${index + 4}`)])
  await loop.stop()
})

test('a snoozed job lets others of its lane pass and comes back when it is due', async () => {
  const delays: Record<string, number> = { a0: 3000, a2: 1000 }
  await using shop = await Workshop.open({
    handle: (job) => {
      const delayMs = delays[job.subject]
      delete delays[job.subject]
      return delayMs === undefined ? shop.finish(job) : { type: 'snooze', delayMs }
    },
  })
  const loop = shop.newLoop()
  await shop.commit(...['a0', 'a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject })))
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'a1', 'a2', 'a3'])
  shop.clock.advance(1000)
  await shop.settled()
  expect(shop.ran.slice(4)).toEqual(['a2'])
  shop.clock.advance(2000)
  await shop.settled()
  expect(shop.ran.slice(5)).toEqual(['a0'])
  await loop.stop()
  expect(await shop.left()).toEqual([])
})

test('two snoozed jobs of a long lane both come back when they are due, though the lane is read in several goes', async () => {
  const delays: Record<string, number> = { a0: 1000, a1: 5000 }
  await using shop = await Workshop.open({
    maxInFlight: 2,
    maxPerLane: 2,
    handle: (job) => {
      const delayMs = delays[job.subject]
      delete delays[job.subject]
      return delayMs === undefined ? shop.finish(job) : { type: 'snooze', delayMs }
    },
  })
  const loop = shop.newLoop()
  await shop.commit(...Array.from({ length: 4 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.start()
  await shop.settled()
  await shop.commit(...Array.from({ length: 9 }, (_, index) => ({ lane: 'a', subject: `b${index}`, inMs: 900 })))
  shop.clock.advance(1000)
  await shop.settled()
  expect(shop.ran.length).toBe(14)
  expect(shop.ran).toContain('b8')
  shop.clock.advance(4000)
  await shop.settled()
  expect(shop.ran.slice(14)).toEqual(['a1'])
  await loop.stop()
})

test('a lane without room goes on when it is freed, and takes no more than it has', async () => {
  let room = 2
  await using shop = await Workshop.open({
    room: () => room,
    handle: (job) => {
      room--
      return shop.finish(job)
    },
  })
  const loop = shop.newLoop()
  await shop.commit(...['a0', 'a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject })))
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'a1'])
  shop.clock.advance(30_000)
  await shop.settled()
  expect(shop.ran).toHaveLength(2)
  room = 1
  loop.laneFreed('a', 'tenant_a')
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'a1', 'a2'])
  await loop.stop()
})

test('a backlog of 10,000 jobs in a held lane costs nothing while it waits, nor while other lanes work', async () => {
  await using shop = await Workshop.open({
    room: (lane) => (lane === 'held' ? 0 : 8),
  })
  const loop = shop.newLoop()
  await shop.commit(...Array.from({ length: 10_000 }, (_, index) => ({ lane: 'held', subject: `held${index}` })))
  loop.start()
  await shop.settled()
  const calls = shop.calls
  for (let second = 0; second < 45; second++) {
    shop.clock.advance(1000)
    await shop.settled()
  }
  expect(shop.calls).toBe(calls)
  await shop.commit({ lane: 'free', subject: 'free' })
  loop.dueAfter('free', 'tenant_a', 0)
  await shop.untilRan(1)
  await shop.settled()
  expect(shop.calls - calls).toBeLessThanOrEqual(3)
  expect(shop.ran).toEqual(['free'])
  await loop.stop()
})

test('with every slot in use a lane that is due does not spin the clock', async () => {
  const blocked = Promise.withResolvers<void>()
  await using shop = await Workshop.open({
    maxInFlight: 1,
    handle: async (job) => {
      if (job.subject === 'slow') await blocked.promise
      return job.subject === 'later' && shop.ran.length === 1 ? { type: 'snooze', delayMs: 1000 } : shop.finish(job)
    },
  })
  const loop = shop.newLoop()
  loop.start()
  await shop.commit({ lane: 'a', subject: 'later' })
  loop.dueAfter('a', 'tenant_a', 0)
  await shop.untilRan(1)
  await shop.settled()
  await shop.commit({ lane: 'b', subject: 'slow' })
  loop.dueAfter('b', 'tenant_a', 0)
  await shop.untilRan(2)
  await shop.settled()
  let timers = 0
  const { after } = shop.clock
  shop.clock.after = (delayMs, callback) => (timers++, after(delayMs, callback))
  for (let ms = 0; ms < 3000; ms += 10) {
    shop.clock.advance(10)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect(timers).toBeLessThan(5)
  blocked.resolve()
  await shop.untilRan(3)
  expect(shop.ran).toEqual(['later', 'slow', 'later'])
  await loop.stop()
})

test('idle, the loop asks the database once a minute', async () => {
  await using shop = await Workshop.open()
  const loop = shop.newLoop()
  loop.start()
  await shop.settled()
  const calls = shop.calls
  for (let second = 0; second < 300; second++) shop.clock.advance(1000)
  await shop.settled()
  for (let minute = 0; minute < 4; minute++) {
    shop.clock.advance(60_000)
    await shop.settled()
  }
  expect(shop.calls - calls).toBeLessThanOrEqual(5)
  await loop.stop()
})

test('a job that comes due while its lane is read page by page is not left behind', async () => {
  await using shop = await Workshop.open({ maxPerLane: 2 })
  const loop = shop.newLoop()
  const due = ['a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject }))
  await shop.commit({ lane: 'a', subject: 'a0', inMs: 5 }, ...due)
  let pages = 0
  shop.execute = async (statement) => {
    const result = await shop.gate.execute(statement)
    // The first page passed a0 over; it is due before the second one is read.
    if (typeof statement !== 'string' && statement.sql.includes('seq > ?') && ++pages === 1) shop.clock.advance(5)
    return result
  }
  loop.start()
  await shop.settled()
  shop.clock.advance(1)
  await shop.settled()
  expect(shop.ran).toEqual(['a1', 'a2', 'a3', 'a0'])
  await loop.stop()
})
