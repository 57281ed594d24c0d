import { expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import { NumberQueue, newEntry } from '../../../src/messages/sending/number-queue.ts'
import { NumberLookups } from '../../../src/messages/sending/number-lookups.ts'
import { manualClock } from '../../support/manual-clock.ts'

test('a number lookup counts for a message whose commit reported an error but succeeded', async () => {
  let lookups = 0
  const numbers = { readAll: () => Promise.resolve(++lookups > 0) }
  const found = new NumberLookups({ clock: manualClock(), numbers, log: silentLog }, () => undefined)
  found.noteAccepted(7)
  // The lookups were not told that job 8 is the newest.
  const entry = newEntry(new NumberQueue('tenant', '+15550100', false), 'message', '+15550199', 8)
  expect(found.ensureLookedUp(entry)).toBe(false)
  await new Promise((resolve) => setImmediate(resolve))
  expect(found.ensureLookedUp(entry)).toBe(true)
  expect(lookups).toBe(1)
})
