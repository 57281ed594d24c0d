import { expect, test } from 'bun:test'
import { silentLog } from '../../src/core/log.ts'
import { NumberQueue, newEntry } from '../../src/sending/number-queue.ts'
import { NumberLookups } from '../../src/sending/number-lookups.ts'
import { manualClock } from '../support/manual-clock.ts'

test('a lookup counts for a message whose commit was done although it failed', async () => {
  let lookups = 0
  const numbers = { readAll: () => Promise.resolve(++lookups > 0) }
  const found = new NumberLookups({ clock: manualClock(), numbers, log: silentLog }, () => undefined)
  found.noteAccepted(7)
  // Nobody was told that job 8 is the newest one.
  const entry = newEntry(new NumberQueue('tenant', '+15550100', false), 'message', '+15550199', 8)
  expect(found.ensureFinal(entry)).toBe(false)
  await new Promise((resolve) => setImmediate(resolve))
  expect(found.ensureFinal(entry)).toBe(true)
  expect(lookups).toBe(1)
})
