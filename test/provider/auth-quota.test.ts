import { expect, test } from 'bun:test'
import { Quota } from '../../src/provider/quota.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'

const quotaAt = (clock: ManualClock): Quota => new Quota(clock, { fromPerMinute: 40, extensionPerMinute: () => 40 })

test('tickets leave two of the five calls a minute to tokens, which wait for none', () => {
  const clock = manualClock()
  const quota = quotaAt(clock)
  const waits = () => [quota.authWaitMs('101', 'tokens'), quota.authWaitMs('101', 'ticket')]
  for (let call = 0; call < 2; call++) quota.countAuth('101')
  expect(waits()).toEqual([0, 0])
  for (let call = 0; call < 3; call++) quota.countAuth('101')
  expect([...waits(), quota.authWaitMs('102', 'ticket')]).toEqual([0, 60_000, 0])
  clock.advance(60_000)
  expect(waits()).toEqual([0, 0])
})

test('a pause of these calls pauses nothing else, least of all sends', () => {
  const clock = manualClock()
  const quota = quotaAt(clock)
  quota.pauseAsAnnounced('101', 'auth', 30_000)
  expect([quota.authWaitMs('101', 'tokens'), quota.authWaitMs('101', 'ticket')]).toEqual([30_000, 30_000])
  expect([quota.extensionWaitMs('101'), quota.waitMs('+15555550100', '101')]).toEqual([0, 0])
  for (const group of ['light', 'medium', 'media', 'back_fill'] as const) expect(quota.pauseMs('101', group)).toBe(0)
})
