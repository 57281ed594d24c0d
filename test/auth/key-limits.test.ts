import { expect, test } from 'bun:test'
import { KeyLimits } from '../../src/auth/key-limits.ts'
import { manualClock } from '../support/manual-clock.ts'

test('no time of the limit is longer than its window, whatever fraction of a millisecond it is', () => {
  // Plus 60,000 and minus themselves these are a trifle more than 60,000.
  for (const at of [8350464.140952489, 4188569.797467112, 80062.09177643053]) {
    const clock = { ...manualClock(), monotonic: () => at }
    const limits = new KeyLimits(clock, 1)
    expect(limits.take('app')).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 60 })
    expect(limits.take('app')).toMatchObject({ allowed: false, retryAfterSeconds: 60 })
  }
})
