import { expect, test } from 'bun:test'
import { DONE } from '../../../src/messages/jobs/job.ts'
import { LoopHarness } from './loop-harness.ts'

test('a job that is committed while its lane is being read runs', async () => {
  await using harness = await LoopHarness.open()
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' }, { lane: 'b', subject: 'b0', tenantId: 'tenant_b' })
  let late = false
  harness.execute = async (statement) => {
    const result = await harness.gate.execute(statement)
    // Lane b has been read, and the loop does not have its jobs yet.
    if (!late && typeof statement !== 'string' && statement.sql.includes('NOT IN')) {
      late = true
      await harness.commit({ lane: 'b', subject: 'b1', tenantId: 'tenant_b' })
      loop.wake('b', 'tenant_b', 0)
    }
    return result
  }
  loop.start()
  await harness.untilIdle()
  expect(harness.ran.toSorted()).toEqual(['a0', 'b0', 'b1'])
  await loop.stop()
})

test('every committed job runs, whatever else happens at the same time', async () => {
  await using harness = await LoopHarness.open({
    maxInFlight: 6,
    maxPerLane: 3,
    handle: async (job) => (await Bun.sleep(Math.random() * 2), harness.finish(job)),
  })
  const loop = harness.newLoop()
  loop.start()
  for (let count = 0; count < 300; count++) {
    const lane = `lane${count % 7}`
    await harness.commit({ lane, subject: `s${count}`, tenantId: `tenant_${count % 3}` })
    loop.wake(lane, `tenant_${count % 3}`, 0)
    if (count % 5 === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  await harness.untilRan(300)
  await loop.stop()
  expect(new Set(harness.ran).size).toBe(300)
  expect({ twice: harness.twice, left: await harness.left(), ran: harness.ran.length }).toEqual({
    twice: [],
    left: [],
    ran: 300,
  })
})

test('a job that ends while its lane is read again does not run twice', async () => {
  const first = Promise.withResolvers<void>()
  await using harness = await LoopHarness.open({
    handle: async (job) => {
      if (job.subject === 'a0') await first.promise
      return harness.finish(job)
    },
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await harness.untilRan(1)
  harness.execute = async (statement) => {
    const result = await harness.gate.execute(statement)
    if (typeof statement !== 'string' && statement.sql.includes('NOT IN')) {
      first.resolve()
      await Bun.sleep(10)
    }
    return result
  }
  // The lane is read again from its start, and a0 is still in the table.
  await harness.commit({ lane: 'a', subject: 'a1' })
  loop.wake('a', 'tenant_a', 0)
  await harness.untilRan(2)
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0', 'a1'])
  await loop.stop()
})

test('a lane whose last running job ends while more are being loaded continues', async () => {
  const first = Promise.withResolvers<void>()
  let loads = 0
  await using harness = await LoopHarness.open({
    maxPerLane: 2,
    load: async (subjects) => {
      if (++loads === 2) {
        first.resolve()
        await Bun.sleep(10)
      }
      return new Map(subjects.map((subject) => [subject, subject]))
    },
    handle: async (job) => {
      if (job.subject === 'a0') await first.promise
      else await Bun.sleep(5)
      return harness.finish(job)
    },
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await harness.untilRan(1)
  await harness.untilIdle()
  await harness.commit({ lane: 'a', subject: 'a1' })
  loop.wake('a', 'tenant_a', 0)
  await harness.untilRan(2)
  await harness.commit({ lane: 'a', subject: 'a2' })
  loop.wake('a', 'tenant_a', 0)
  await harness.untilRan(3)
  await harness.untilIdle()
  expect({ ran: harness.ran, twice: harness.twice }).toEqual({ ran: ['a0', 'a1', 'a2'], twice: [] })
  await loop.stop()
})

test('lanes of the same name of two tenants are independent', async () => {
  await using harness = await LoopHarness.open({
    maxPerLane: 1,
    handle: (job) => (job.tenantId === 'tenant_b' ? { type: 'wait', delayMs: 30_000 } : harness.finish(job)),
  })
  const loop = harness.newLoop()
  await harness.commit(
    { lane: '+15555550100', subject: 'b0', tenantId: 'tenant_b' },
    { lane: '+15555550100', subject: 'a0', tenantId: 'tenant_a' },
    { lane: '+15555550100', subject: 'a1', tenantId: 'tenant_a' },
  )
  loop.start()
  for (const tenantId of ['tenant_a', 'tenant_b']) loop.wake('+15555550100', tenantId, 0)
  await harness.untilIdle()
  expect(harness.ran.toSorted()).toEqual(['a0', 'a1', 'b0'])
  expect(await harness.left()).toEqual(['b0'])
  await loop.stop()
})

test('a failed query is repeated after a second, and no job is skipped', async () => {
  await using harness = await LoopHarness.open()
  const loop = harness.newLoop()
  let broken = true
  harness.execute = (statement) =>
    broken ? Promise.reject(new Error('disk I/O error')) : harness.gate.execute(statement)
  await harness.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual([])
  broken = false
  harness.clock.advance(1000)
  await harness.untilRan(1)
  await loop.stop()
})

test('jobs whose load failed are loaded again after a second, in order', async () => {
  let broken = true
  await using harness = await LoopHarness.open({
    maxPerLane: 1,
    load: (subjects) =>
      broken
        ? Promise.reject(new Error('disk I/O error'))
        : Promise.resolve(new Map(subjects.map((subject) => [subject, subject]))),
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await harness.untilIdle()
  broken = false
  harness.clock.advance(1000)
  expect(await harness.untilRan(2)).toEqual(['a0', 'a1'])
  await loop.stop()
})

test('stop waits for running jobs, starts no more, and leaves the others in the table', async () => {
  const blocked = Promise.withResolvers<void>()
  await using harness = await LoopHarness.open({
    maxPerLane: 1,
    handle: async (job) => (await blocked.promise, harness.finish(job)),
  })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await harness.untilRan(1)
  let stopped = false
  const stopping = loop.stop().then(() => (stopped = true))
  loop.wake('b', 'tenant_a', 0)
  await harness.untilIdle()
  expect(stopped).toBe(false)
  blocked.resolve()
  await stopping
  harness.clock.advance(600_000)
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0'])
  expect(await harness.left()).toEqual(['a1'])
})

test('a loop that never ran stops at once, and can be stopped twice', async () => {
  await using harness = await LoopHarness.open()
  const loop = harness.newLoop()
  await loop.stop()
  loop.start()
  await Promise.all([loop.stop(), loop.stop()])
  expect(harness.ran).toEqual([])
})

test('a restart finds every lane of every tenant, also lanes with snoozed jobs', async () => {
  await using harness = await LoopHarness.open({
    handle: (job) =>
      job.subject.startsWith('later') && harness.ran.length < 5
        ? { type: 'snooze', delayMs: 10_000 }
        : harness.finish(job),
  })
  const before = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'later-a' })
  before.start()
  await harness.untilIdle()
  await before.stop()
  await harness.commit(
    ...['a', 'b', 'c'].flatMap((lane) =>
      ['tenant_a', 'tenant_b'].map((tenantId) => ({ lane, tenantId, subject: `${lane}-${tenantId}` })),
    ),
    { lane: 'd', subject: 'future', inMs: 3000 },
  )
  const after = harness.newLoop()
  after.start()
  await harness.untilIdle()
  expect(harness.ran.slice(1).toSorted()).toEqual([
    'a-tenant_a',
    'a-tenant_b',
    'b-tenant_a',
    'b-tenant_b',
    'c-tenant_a',
    'c-tenant_b',
  ])
  harness.clock.advance(3000)
  await harness.untilIdle()
  expect(harness.ran.at(-1)).toBe('future')
  harness.clock.advance(7000)
  await harness.untilIdle()
  expect(harness.ran.at(-1)).toBe('later-a')
  await after.stop()
  expect(await harness.left()).toEqual([])
})

test('a job whose row was deleted elsewhere does not block its lane', async () => {
  await using harness = await LoopHarness.open({ handle: () => DONE })
  const loop = harness.newLoop()
  await harness.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await harness.untilIdle()
  expect(harness.ran).toEqual(['a0'])
  await loop.stop()
})
