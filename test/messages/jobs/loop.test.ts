import { expect, test } from 'bun:test'
import type { Job } from '../../../src/messages/jobs/job.ts'
import { LoopHarness } from './loop-harness.ts'

test('jobs of a lane begin in the order in which they were committed', async () => {
  await using harness = await LoopHarness.open({ maxPerLane: 1 })
  const loop = harness.newLoop()
  await harness.commit(...Array.from({ length: 30 }, (_, index) => ({ lane: 'a', subject: `a${index}` })))
  loop.start()
  expect(await harness.untilRan(30)).toEqual(Array.from({ length: 30 }, (_, index) => `a${index}`))
  await loop.stop()
  expect(await harness.left()).toEqual([])
})

test('tenants take turns: many jobs of one tenant delay another tenant by two at most', async () => {
  await using harness = await LoopHarness.open({ maxInFlight: 1, maxPerLane: 1 })
  const loop = harness.newLoop()
  await harness.commit(
    ...Array.from({ length: 50 }, (_, index) => ({
      lane: `many${index % 5}`,
      subject: `many${index}`,
      tenantId: 'tenant_crowd',
    })),
  )
  await harness.commit(...['x', 'y', 'z'].map((subject) => ({ lane: 'quiet', subject, tenantId: 'tenant_quiet' })))
  loop.start()
  const ran = await harness.untilRan(53)
  await loop.stop()
  for (const [turn, subject] of ['x', 'y', 'z'].entries())
    expect(ran.indexOf(subject)).toBeLessThanOrEqual(2 * turn + 2)
})

test('lanes of a tenant take turns', async () => {
  await using harness = await LoopHarness.open({ maxInFlight: 1, maxPerLane: 1 })
  const loop = harness.newLoop()
  await harness.commit(...Array.from({ length: 20 }, (_, index) => ({ lane: 'long', subject: `long${index}` })), {
    lane: 'short',
    subject: 'short',
  })
  loop.start()
  expect((await harness.untilRan(21)).indexOf('short')).toBeLessThanOrEqual(2)
  await loop.stop()
})

test('no more jobs run at once than the kind allows, in total and per lane', async () => {
  let most = 0
  let mostOfLane = 0
  await using harness = await LoopHarness.open({
    maxInFlight: 5,
    maxPerLane: 2,
    handle: async (job) => {
      most = Math.max(most, harness.running.size)
      mostOfLane = Math.max(mostOfLane, [...harness.running].filter((subject) => subject.startsWith(job.lane)).length)
      await Bun.sleep(1)
      return harness.finish(job)
    },
  })
  const loop = harness.newLoop()
  await harness.commit(
    ...Array.from({ length: 80 }, (_, index) => ({ lane: `lane${index % 4}`, subject: `lane${index % 4}-${index}` })),
  )
  loop.start()
  await harness.untilRan(80)
  await loop.stop()
  expect({ most, mostOfLane, twice: harness.twice }).toEqual({ most: 5, mostOfLane: 2, twice: [] })
})

test('a job without data is dropped', async () => {
  await using harness = await LoopHarness.open()
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'orphan' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a1'])
  expect(await harness.left()).toEqual([])
  await loop.stop()
})

test('a job whose handler throws is retried after a second, before later jobs, and the error is logged', async () => {
  let failures = 2
  await using harness = await LoopHarness.open({
    maxPerLane: 1,
    handle: (job: Job) => {
      if (job.subject !== 'a0' || failures-- <= 0) return harness.finish(job)
      throw new RangeError('private details')
    },
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  for (let turn = 1; turn <= 2; turn++) {
    await harness.untilIdle()
    expect(harness.ran.length).toBe(turn)
    harness.clock.advance(1000)
  }
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'a0', 'a0', 'a1'])
  expect(harness.log.lines.filter((line) => line.includes('RangeError')).length).toBe(2)
  expect(harness.log.lines.join('')).not.toContain('private')
  await loop.stop()
})
