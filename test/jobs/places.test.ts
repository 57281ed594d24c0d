import { expect, test } from 'bun:test'
import { sendPlaces } from '../../src/gateway.ts'
import { type PlaceBounds, Places } from '../../src/jobs/places.ts'
import { manualClock } from '../support/manual-clock.ts'

const BOUNDS = { quick: 2, slow: 3, slowAfterMs: () => 25 }

function places(bounds: PlaceBounds = BOUNDS) {
  const clock = manualClock()
  const freed: number[] = []
  const all = new Places(clock, bounds, () => freed.push(all.max))
  return { clock, freed, all }
}

test('one that is not answered within a moment frees its place, up to a bound', () => {
  const { clock, freed, all } = places()
  const taken = Array.from({ length: 5 }, () => all.enter())
  clock.advance(24)
  expect({ max: all.max, freed }).toEqual({ max: 2, freed: [] })
  clock.advance(1)
  expect({ max: all.max, freed }).toEqual({ max: 5, freed: [3, 4, 5, 5, 5] })
  for (const place of taken) place.leave()
  expect(all.max).toBe(2)
})

test('one that was answered frees its place while its result is stored, up to as many as are quick', () => {
  const { clock, freed, all } = places()
  const taken = Array.from({ length: 3 }, () => all.enter())
  for (const place of taken) place.answered()
  expect({ max: all.max, freed }).toEqual({ max: 4, freed: [3, 4, 4] })
  clock.advance(60_000)
  expect(all.max).toBe(4)
  for (const place of taken) place.leave()
  expect(all.max).toBe(2)
})

test('a slow one that is answered counts once', () => {
  const { clock, all } = places()
  const place = all.enter()
  clock.advance(25)
  place.answered()
  expect(all.max).toBe(3)
  place.leave()
  expect(all.max).toBe(2)
})

test('what counts as slow is asked when one enters', () => {
  let slowAfterMs = 250
  const { clock, all } = places({ ...BOUNDS, slowAfterMs: () => slowAfterMs })
  const first = all.enter()
  slowAfterMs = 25
  const second = all.enter()
  clock.advance(249)
  expect(all.max).toBe(3)
  clock.advance(1)
  expect(all.max).toBe(4)
  first.leave()
  second.leave()
})

test('how many are slow already counts when one enters', () => {
  const { clock, all } = places({ ...BOUNDS, slowAfterMs: (slow) => (slow < 2 ? 25 : 2) })
  const taken = [all.enter(), all.enter()]
  clock.advance(25)
  taken.push(all.enter())
  clock.advance(1)
  expect(all.max).toBe(4)
  clock.advance(1)
  expect(all.max).toBe(5)
  for (const place of taken) place.leave()
  expect(all.max).toBe(2)
})

test('a send is slow after a moment, at once among slow ones, and late in a crowd of requests', () => {
  const slowAfterMs = (slow: number, answering: number): number => sendPlaces(1024, { answering }).slowAfterMs(slow)
  expect([slowAfterMs(0, 0), slowAfterMs(63, 15)]).toEqual([25, 25])
  expect([slowAfterMs(64, 0), slowAfterMs(900, 15)]).toEqual([2, 2])
  expect([slowAfterMs(0, 16), slowAfterMs(900, 16)]).toEqual([250, 250])
})

test('more may begin where none waits, while none is slow', () => {
  const { clock, all } = places({ ...BOUNDS, unqueued: 10 })
  expect({ max: all.max, unqueued: all.maxUnqueued }).toEqual({ max: 2, unqueued: 12 })
  const place = all.enter()
  clock.advance(25)
  expect({ max: all.max, unqueued: all.maxUnqueued }).toEqual({ max: 3, unqueued: 3 })
  place.leave()
})

test('a place is left once, and is then taken by nothing that comes of it later', () => {
  const { clock, all } = places()
  const place = all.enter()
  clock.advance(25)
  place.leave()
  place.leave()
  place.answered()
  expect(all.max).toBe(2)
})

test.each([128, 256, 1024])(
  'of %d calls at once as many are left to others as may begin before any is slow',
  (calls) => {
    const { slow, unqueued = 0 } = sendPlaces(calls, { answering: 0 })
    expect(unqueued).toBeGreaterThan(0)
    expect(slow - unqueued).toBeGreaterThanOrEqual(unqueued)
  },
)
