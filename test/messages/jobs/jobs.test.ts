import { expect, test } from 'bun:test'
import { Jobs } from '../../../src/messages/jobs/jobs.ts'
import { LoopHarness } from './loop-harness.ts'

test('a job of a kind that is not registered is an error', async () => {
  await using harness = await LoopHarness.open()
  const jobs = new Jobs(harness.newLoop().context)
  jobs.register(harness.kind())
  expect(() => jobs.wake('lookup', 'a', 'tenant_a', 0)).toThrow('no such kind is registered')
  jobs.start()
  await harness.commit({ lane: 'a', subject: 'a0' })
  jobs.wake('webhook', 'a', 'tenant_a', 0)
  await harness.untilRan(1)
  await jobs.stop()
})
