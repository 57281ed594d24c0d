import { expect, test } from 'bun:test'
import { DONE } from '../../src/jobs/job.ts'
import { Workshop } from './workshop.ts'

test('a job that is committed while the lane is being read is not left behind', async () => {
  await using shop = await Workshop.open()
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' }, { lane: 'b', subject: 'b0', tenantId: 'tenant_b' })
  let late = false
  shop.execute = async (statement) => {
    const result = await shop.gate.execute(statement)
    // After lane b was read, and while the loop still asks about lane a.
    if (!late && typeof statement !== 'string' && statement.sql.includes('min(due_at)')) {
      late = true
      await shop.commit({ lane: 'b', subject: 'b1', tenantId: 'tenant_b' })
      loop.dueAfter('b', 'tenant_b', 0)
    }
    return result
  }
  loop.start()
  await shop.settled()
  expect(shop.ran.toSorted()).toEqual(['a0', 'b0', 'b1'])
  await loop.stop()
})

test('every commit is followed by its run, whatever else happens at that moment', async () => {
  await using shop = await Workshop.open({
    maxInFlight: 6,
    maxPerLane: 3,
    handle: async (job) => (await Bun.sleep(Math.random() * 2), shop.finish(job)),
  })
  const loop = shop.newLoop()
  loop.start()
  for (let count = 0; count < 300; count++) {
    const lane = `lane${count % 7}`
    await shop.commit({ lane, subject: `s${count}`, tenantId: `tenant_${count % 3}` })
    loop.dueAfter(lane, `tenant_${count % 3}`, 0)
    if (count % 5 === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  await shop.untilRan(300)
  await loop.stop()
  expect(new Set(shop.ran).size).toBe(300)
  expect({ twice: shop.twice, left: await shop.left(), ran: shop.ran.length }).toEqual({
    twice: [],
    left: [],
    ran: 300,
  })
})

test('a job that ends while its lane is read again does not run a second time', async () => {
  const first = Promise.withResolvers<void>()
  await using shop = await Workshop.open({
    handle: async (job) => {
      if (job.subject === 'a0') await first.promise
      return shop.finish(job)
    },
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await shop.untilRan(1)
  shop.execute = async (statement) => {
    const result = await shop.gate.execute(statement)
    if (typeof statement !== 'string' && statement.sql.includes('seq > ?')) {
      first.resolve()
      await Bun.sleep(10)
    }
    return result
  }
  // Due again from its start: the reading sees a0, which is still there.
  await shop.commit({ lane: 'a', subject: 'a1' })
  loop.dueAfter('a', 'tenant_a', 0)
  await shop.untilRan(2)
  await shop.settled()
  expect(shop.ran).toEqual(['a0', 'a1'])
  await loop.stop()
})

test('a lane whose last job ends while more of it are being loaded is not forgotten', async () => {
  const first = Promise.withResolvers<void>()
  let loads = 0
  await using shop = await Workshop.open({
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
      return shop.finish(job)
    },
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await shop.untilRan(1)
  await shop.settled()
  await shop.commit({ lane: 'a', subject: 'a1' })
  loop.dueAfter('a', 'tenant_a', 0)
  await shop.untilRan(2)
  await shop.commit({ lane: 'a', subject: 'a2' })
  loop.dueAfter('a', 'tenant_a', 0)
  await shop.untilRan(3)
  await shop.settled()
  expect({ ran: shop.ran, twice: shop.twice }).toEqual({ ran: ['a0', 'a1', 'a2'], twice: [] })
  await loop.stop()
})

test('two tenants with a lane of the same name: each job runs once, and one that is held does not hold the other', async () => {
  await using shop = await Workshop.open({
    maxPerLane: 1,
    handle: (job) => (job.tenantId === 'tenant_b' ? { type: 'wait', delayMs: 30_000 } : shop.finish(job)),
  })
  const loop = shop.newLoop()
  await shop.commit(
    { lane: '+15555550100', subject: 'b0', tenantId: 'tenant_b' },
    { lane: '+15555550100', subject: 'a0', tenantId: 'tenant_a' },
    { lane: '+15555550100', subject: 'a1', tenantId: 'tenant_a' },
  )
  loop.start()
  for (const tenantId of ['tenant_a', 'tenant_b']) loop.dueAfter('+15555550100', tenantId, 0)
  await shop.settled()
  expect(shop.ran.toSorted()).toEqual(['a0', 'a1', 'b0'])
  expect(await shop.left()).toEqual(['b0'])
  await loop.stop()
})

test('a database that cannot be read is asked again after a second, and nothing is skipped', async () => {
  await using shop = await Workshop.open()
  const loop = shop.newLoop()
  let broken = true
  shop.execute = (statement) => (broken ? Promise.reject(new Error('disk I/O error')) : shop.gate.execute(statement))
  await shop.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual([])
  broken = false
  shop.clock.advance(1000)
  await shop.untilRan(1)
  await loop.stop()
})

test('rows that cannot be loaded are loaded again after a second, in their order', async () => {
  let broken = true
  await using shop = await Workshop.open({
    maxPerLane: 1,
    load: (subjects) =>
      broken
        ? Promise.reject(new Error('disk I/O error'))
        : Promise.resolve(new Map(subjects.map((subject) => [subject, subject]))),
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await shop.settled()
  broken = false
  shop.clock.advance(1000)
  expect(await shop.untilRan(2)).toEqual(['a0', 'a1'])
  await loop.stop()
})

test('stop waits for what runs, starts nothing more, and leaves the rest in the table', async () => {
  const blocked = Promise.withResolvers<void>()
  await using shop = await Workshop.open({
    maxPerLane: 1,
    handle: async (job) => (await blocked.promise, shop.finish(job)),
  })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' }, { lane: 'a', subject: 'a1' })
  loop.start()
  await shop.untilRan(1)
  let stopped = false
  const stopping = loop.stop().then(() => (stopped = true))
  loop.dueAfter('b', 'tenant_a', 0)
  await shop.settled()
  expect(stopped).toBe(false)
  blocked.resolve()
  await stopping
  shop.clock.advance(600_000)
  await shop.settled()
  expect(shop.ran).toEqual(['a0'])
  expect(await shop.left()).toEqual(['a1'])
})

test('a stopped loop that never ran stops at once, twice as well', async () => {
  await using shop = await Workshop.open()
  const loop = shop.newLoop()
  await loop.stop()
  loop.start()
  await Promise.all([loop.stop(), loop.stop()])
  expect(shop.ran).toEqual([])
})

test('a restart finds every lane of every tenant, also those with snoozed jobs', async () => {
  await using shop = await Workshop.open({
    handle: (job) =>
      job.subject.startsWith('later') && shop.ran.length < 5 ? { type: 'snooze', delayMs: 10_000 } : shop.finish(job),
  })
  const before = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'later-a' })
  before.start()
  await shop.settled()
  await before.stop()
  await shop.commit(
    ...['a', 'b', 'c'].flatMap((lane) =>
      ['tenant_a', 'tenant_b'].map((tenantId) => ({ lane, tenantId, subject: `${lane}-${tenantId}` })),
    ),
    { lane: 'd', subject: 'future', inMs: 3000 },
  )
  const after = shop.newLoop()
  after.start()
  await shop.settled()
  expect(shop.ran.slice(1).toSorted()).toEqual([
    'a-tenant_a',
    'a-tenant_b',
    'b-tenant_a',
    'b-tenant_b',
    'c-tenant_a',
    'c-tenant_b',
  ])
  shop.clock.advance(3000)
  await shop.settled()
  expect(shop.ran.at(-1)).toBe('future')
  shop.clock.advance(7000)
  await shop.settled()
  expect(shop.ran.at(-1)).toBe('later-a')
  await after.stop()
  expect(await shop.left()).toEqual([])
})

test('a job that was done elsewhere is out of the way', async () => {
  await using shop = await Workshop.open({ handle: () => DONE })
  const loop = shop.newLoop()
  await shop.commit({ lane: 'a', subject: 'a0' })
  loop.start()
  await shop.settled()
  expect(shop.ran).toEqual(['a0'])
  await loop.stop()
})
