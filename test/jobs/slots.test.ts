import { expect, test } from 'bun:test'
import { Slots } from '../../src/jobs/slots.ts'
import { manualClock } from '../support/manual-clock.ts'

const BOUNDS = { quick: 2, slow: 3, slowAfterMs: 25 }

function open() {
  const clock = manualClock()
  const freed: number[] = []
  const slots = new Slots(clock, BOUNDS, () => freed.push(slots.max))
  return { clock, freed, slots }
}

test('a slow slot lets another run begin, up to a bound', () => {
  const { clock, freed, slots } = open()
  const acquired = Array.from({ length: 5 }, () => slots.acquire())
  clock.advance(24)
  expect({ max: slots.max, freed }).toEqual({ max: 2, freed: [] })
  clock.advance(1)
  expect({ max: slots.max, freed }).toEqual({ max: 5, freed: [3, 4, 5, 5, 5] })
  for (const slot of acquired) slot.release()
  expect(slots.max).toBe(2)
})

test('an answered slot lets another run begin while its result is stored, up to the number of quick slots', () => {
  const { clock, freed, slots } = open()
  const acquired = Array.from({ length: 3 }, () => slots.acquire())
  for (const slot of acquired) slot.answered()
  expect({ max: slots.max, freed }).toEqual({ max: 4, freed: [3, 4, 4] })
  clock.advance(60_000)
  expect(slots.max).toBe(4)
  for (const slot of acquired) slot.release()
  expect(slots.max).toBe(2)
})

test('a slow slot that is answered counts once', () => {
  const { clock, slots } = open()
  const slot = slots.acquire()
  clock.advance(25)
  slot.answered()
  expect(slots.max).toBe(3)
  slot.release()
  expect(slots.max).toBe(2)
})

test('a slot is released once, and an answer after that changes nothing', () => {
  const { clock, slots } = open()
  const slot = slots.acquire()
  clock.advance(25)
  slot.release()
  slot.release()
  slot.answered()
  expect(slots.max).toBe(2)
})

test('each slot becomes slow at its own time', () => {
  const { clock, slots } = open()
  const first = slots.acquire()
  clock.advance(10)
  const second = slots.acquire()
  clock.advance(15)
  expect(slots.max).toBe(3)
  first.release()
  clock.advance(10)
  expect(slots.max).toBe(3)
  second.release()
  expect(slots.max).toBe(2)
})
