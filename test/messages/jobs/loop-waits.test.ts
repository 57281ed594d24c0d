import { expect, test } from 'bun:test'
import { LoopHarness } from './loop-harness.ts'

test('a job that throws is retried after a second, even if its tenant was freed while it ran', async () => {
  await using harness = await LoopHarness.open({
    handle: () => {
      loop.tenantFreed('tenant_a')
      throw new Error('the disk is full')
    },
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0'])
  harness.clock.advance(1000)
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'a0'])
  await loop.stop()
})

/** Creates jobs in lane `a` that wait until `go` is called, and a job in lane `b` that does not wait. */
async function waiting(): Promise<{ harness: LoopHarness; loop: ReturnType<LoopHarness['newLoop']>; go: () => void }> {
  let isFull = true
  const harness = await LoopHarness.open({
    maxPerLane: 2,
    handle: (job) => (isFull && job.lane === 'a' ? { type: 'wait', delayMs: 5000 } : harness.finish(job)),
  })
  const loop = harness.newLoop()
  await harness.commit(...['a0', 'a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject })), {
    lane: 'b',
    subject: 'b0',
  })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'a1', 'b0'])
  return { harness, loop, go: () => (isFull = false) }
}

test('waiting jobs continue in order when their tenant is freed', async () => {
  const { harness, loop, go } = await waiting()
  await using _harness = harness
  harness.clock.advance(4999)
  await harness.untilIdle()
  expect(harness.ran).toHaveLength(3)
  go()
  loop.tenantFreed('tenant_a')
  await harness.untilRan(7)
  expect(harness.ran.slice(3)).toEqual(['a0', 'a1', 'a2', 'a3'])
  expect(await harness.left()).toEqual([])
  await loop.stop()
})

test('waiting jobs continue when their time is over', async () => {
  const { harness, loop, go } = await waiting()
  await using _harness = harness
  go()
  harness.clock.advance(5000)
  await harness.untilRan(7)
  expect(harness.ran.slice(3)).toEqual(['a0', 'a1', 'a2', 'a3'])
  await loop.stop()
})

test('a lane whose tenant is freed before its job returns `wait` does not wait', async () => {
  const asked = Promise.withResolvers<void>()
  await using harness = await LoopHarness.open({
    handle: async (job) => {
      if (harness.ran.length > 1) return harness.finish(job)
      await asked.promise
      return { type: 'wait', delayMs: 5000 }
    },
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await harness.untilIdle()
  loop.tenantFreed('tenant_a')
  asked.resolve()
  await harness.untilRan(2)
  expect(await harness.left()).toEqual([])
  await loop.stop()
})

test('a waiting job runs once if its lane is read again meanwhile', async () => {
  const asked = Promise.withResolvers<void>()
  await using harness = await LoopHarness.open({
    handle: async (job) => {
      if (harness.ran.length > 2) return harness.finish(job)
      if (job.subject === 'a1') return { type: 'wait', delayMs: 0 }
      await asked.promise
      return { type: 'wait', delayMs: 10 }
    },
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await harness.untilIdle()
  asked.resolve()
  await harness.untilIdle()
  harness.clock.advance(10)
  await harness.untilRan(4)
  await harness.untilIdle()
  expect(harness.ran.toSorted()).toEqual(['a0', 'a0', 'a1', 'a1'])
  expect(harness.twice).toEqual([])
  expect(await harness.left()).toEqual([])
  await loop.stop()
})

test('a waiting lane keeps its order, and others continue', async () => {
  let held = true
  await using harness = await LoopHarness.open({
    maxPerLane: 1,
    handle: (job) => (job.subject === 'a0' && held ? { type: 'wait', delayMs: 5000 } : harness.finish(job)),
  })
  const loop = harness.newLoop()
  await harness.commit(...['a0', 'a1', 'a2'].map((subject) => ({ lane: 'a', subject })), { lane: 'b', subject: 'b0' })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'b0'])
  harness.clock.advance(4999)
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'b0'])
  held = false
  harness.clock.advance(1)
  await harness.untilRan(5)
  expect(harness.ran.slice(2)).toEqual(['a0', 'a1', 'a2'])
  await loop.stop()
})

test('no later job of a lane overtakes a waiting one', async () => {
  let held = true
  await using harness = await LoopHarness.open({
    maxInFlight: 4,
    maxPerLane: 4,
    handle: async (job) => {
      if (job.subject === 'a1' && held) return { type: 'wait', delayMs: 1000 }
      await Bun.sleep(2)
      return harness.finish(job)
    },
  })
  const loop = harness.newLoop()
  await harness.commit(...Array.from({ length: 12 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.start()
  await harness.untilRan(4)
  await Bun.sleep(20)
  expect(harness.ran).toEqual(['a0', 'a1', 'a2', 'a3'])
  held = false
  harness.clock.advance(1000)
  await harness.untilRan(13)
  expect(harness.ran.slice(4)).toEqual(['a1', ...Array.from({ length: 8 }, (_, index) => `a${index + 4}`)])
  await loop.stop()
})

test('a snoozed job lets later jobs of its lane run, and runs when it is due', async () => {
  const delays: Record<string, number> = { a0: 3000, a2: 1000 }
  await using harness = await LoopHarness.open({
    handle: (job) => {
      const delayMs = delays[job.subject]
      delete delays[job.subject]
      return delayMs === undefined ? harness.finish(job) : { type: 'snooze', delayMs }
    },
  })
  const loop = harness.newLoop()
  await harness.commit(...['a0', 'a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject })))
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'a1', 'a2', 'a3'])
  harness.clock.advance(1000)
  await harness.untilIdle()
  expect(harness.ran.slice(4)).toEqual(['a2'])
  harness.clock.advance(2000)
  await harness.untilIdle()
  expect(harness.ran.slice(5)).toEqual(['a0'])
  await loop.stop()
  expect(await harness.left()).toEqual([])
})

test('two snoozed jobs of a long lane both run when they are due, although the lane is read in several pages', async () => {
  const delays: Record<string, number> = { a0: 1000, a1: 5000 }
  await using harness = await LoopHarness.open({
    maxInFlight: 2,
    maxPerLane: 2,
    handle: (job) => {
      const delayMs = delays[job.subject]
      delete delays[job.subject]
      return delayMs === undefined ? harness.finish(job) : { type: 'snooze', delayMs }
    },
  })
  const loop = harness.newLoop()
  await harness.commit(...Array.from({ length: 4 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.start()
  await harness.untilIdle()
  await harness.commit(...Array.from({ length: 9 }, (_, index) => ({ lane: 'a', subject: `b${index}`, inMs: 900 })))
  harness.clock.advance(1000)
  await harness.untilIdle()
  expect(harness.ran.length).toBe(14)
  expect(harness.ran).toContain('b8')
  harness.clock.advance(4000)
  await harness.untilIdle()
  expect(harness.ran.slice(14)).toEqual(['a1'])
  await loop.stop()
})

test('lanes whose jobs share a key wait for it, and the others continue', async () => {
  const ends = new Map<string, () => void>()
  await using harness = await LoopHarness.open({
    keyOf: (subject) => ({ name: subject.slice(0, 1), max: 2 }),
    handle: async (job) => {
      await new Promise<void>((resolve) => ends.set(job.subject, resolve))
      return harness.finish(job)
    },
  })
  const loop = harness.newLoop()
  const subjects = ['a', 'b', 'c'].map((lane) => ({ lane, subject: `slow-${lane}` }))
  await harness.commit(...subjects, { lane: 'd', subject: 'quick' })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran.toSorted()).toEqual(['quick', 'slow-a', 'slow-b'])
  harness.clock.advance(30_000)
  await harness.untilIdle()
  expect(harness.ran).toHaveLength(3)
  ends.get('slow-b')?.()
  await harness.untilRan(4)
  expect(harness.ran).toContain('slow-c')
  for (const end of ends.values()) end()
  await harness.untilIdle()
  expect({ left: await harness.left(), twice: harness.twice }).toEqual({ left: [], twice: [] })
  await loop.stop()
})

test('a backlog of 10,000 jobs in a waiting lane causes no queries, also while other lanes run', async () => {
  await using harness = await LoopHarness.open({
    handle: (job) => (job.lane === 'held' ? { type: 'wait', delayMs: 50_000 } : harness.finish(job)),
  })
  const loop = harness.newLoop()
  await harness.commit(...Array.from({ length: 10_000 }, (_, index) => ({ lane: 'held', subject: `held${index}` })))
  loop.start()
  await harness.untilIdle()
  const [calls, ran] = [harness.calls, harness.ran.length]
  for (let second = 0; second < 45; second++) {
    harness.clock.advance(1000)
    await harness.untilIdle()
  }
  expect(harness.calls).toBe(calls)
  await harness.commit({ lane: 'free', subject: 'free' })
  loop.wake('free', 'tenant_a', 0)
  await harness.untilRan(ran + 1)
  await harness.untilIdle()
  expect(harness.calls - calls).toBeLessThanOrEqual(3)
  expect(harness.ran.slice(ran)).toEqual(['free'])
  await loop.stop()
})

test('with every slot in use, a due lane does not set timers in a loop', async () => {
  const blocked = Promise.withResolvers<void>()
  await using harness = await LoopHarness.open({
    maxInFlight: 1,
    handle: async (job) => {
      if (job.subject === 'slow') await blocked.promise
      return job.subject === 'later' && harness.ran.length === 1
        ? { type: 'snooze', delayMs: 1000 }
        : harness.finish(job)
    },
  })
  const loop = harness.newLoop()
  loop.start()
  await harness.commit({ lane: 'a', subject: 'later' })
  loop.wake('a', 'tenant_a', 0)
  await harness.untilRan(1)
  await harness.untilIdle()
  await harness.commit({ lane: 'b', subject: 'slow' })
  loop.wake('b', 'tenant_a', 0)
  await harness.untilRan(2)
  await harness.untilIdle()
  let timers = 0
  const { after } = harness.clock
  harness.clock.after = (delayMs, callback) => (timers++, after(delayMs, callback))
  for (let ms = 0; ms < 3000; ms += 10) {
    harness.clock.advance(10)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect(timers).toBeLessThan(5)
  blocked.resolve()
  await harness.untilRan(3)
  expect(harness.ran).toEqual(['later', 'slow', 'later'])
  await loop.stop()
})

test('an idle loop queries the database once a minute', async () => {
  await using harness = await LoopHarness.open()
  const loop = harness.newLoop()
  loop.start()
  await harness.untilIdle()
  const calls = harness.calls
  for (let second = 0; second < 300; second++) harness.clock.advance(1000)
  await harness.untilIdle()
  for (let minute = 0; minute < 4; minute++) {
    harness.clock.advance(60_000)
    await harness.untilIdle()
  }
  expect(harness.calls - calls).toBeLessThanOrEqual(5)
  await loop.stop()
})

test('a job that becomes due while its lane is read page by page runs', async () => {
  await using harness = await LoopHarness.open({ maxPerLane: 2 })
  const loop = harness.newLoop()
  const due = ['a1', 'a2', 'a3'].map((subject) => ({ lane: 'a', subject }))
  await harness.commit({ lane: 'a', subject: 'a0', inMs: 5 }, ...due)
  let pages = 0
  harness.execute = async (statement) => {
    const result = await harness.gate.execute(statement)
    // The first page skipped a0, which becomes due before the second page is read.
    if (typeof statement !== 'string' && statement.sql.includes('NOT IN') && ++pages === 1) harness.clock.advance(5)
    return result
  }
  loop.start()
  await harness.untilIdle()
  harness.clock.advance(1)
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a1', 'a2', 'a3', 'a0'])
  await loop.stop()
})
