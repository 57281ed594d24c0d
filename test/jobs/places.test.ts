import { expect, test } from 'bun:test'
import { Places } from '../../src/jobs/places.ts'
import { manualClock } from '../support/manual-clock.ts'

const BOUNDS = { quick: 2, slow: 3, slowAfterMs: 25 }

function places() {
  const clock = manualClock()
  const freed: number[] = []
  const all = new Places(clock, BOUNDS, () => freed.push(all.max))
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
