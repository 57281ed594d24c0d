import { expect, test } from 'bun:test'
import { loadOnce } from '../../src/core/load-once.ts'

/** Loads 1, 2, 3 …, except where the number of the load is one of `failing`. */
function numbered(failing: readonly number[] = []) {
  let loads = 0
  return loadOnce(async () => {
    loads++
    if (failing.includes(loads)) throw new Error(`load ${loads}`)
    return loads
  })
}

test('what was loaded is kept until it is asked for anew', async () => {
  const load = numbered()
  expect(await Promise.all([load(), load()])).toEqual([1, 1])
  expect(await load(true)).toBe(2)
  expect(await load()).toBe(2)
})

test('a load that failed, as of a file without a free file descriptor, is tried again', async () => {
  const load = numbered([1])
  const first = Promise.allSettled([load(), load()])
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await load()).toBe(2)
})

test('a load that failed takes nothing from a later one that is under way', async () => {
  const load = numbered([1])
  const failed = load().catch((error: unknown) => String(error))
  const later = load(true)
  expect(await failed).toBe('Error: load 1')
  expect(await later).toBe(2)
  expect(await load()).toBe(2)
})
